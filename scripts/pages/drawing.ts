// Boxes, arrows and words of a diagram as SVG, in the colours of the pages, for light and dark.

export interface Drawing {
  /** Its text alternative. */
  title: string
  width: number
  height: number
  parts: readonly string[]
}

type Point = readonly [x: number, y: number]

export interface BoxOptions {
  /** A second line and more, in small. */
  lines?: readonly string[]
  /** `read`: what is readable there; `closed`: what is not. @default plain */
  kind?: 'plain' | 'read' | 'closed'
}

const SMALL_LINE_PX = 18

/** The tokens of relay/web/src/style/tokens.css. */
const STYLE = [
  'text{font:15px "Figtree Variable",Figtree,system-ui,sans-serif;fill:var(--t)}.s{font-size:13px;fill:var(--q)}.b{font-weight:600}.m{text-anchor:middle}.c{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}',
  '.plain{fill:var(--f);stroke:var(--l)}.read{fill:var(--g);stroke:var(--a)}.closed{fill:var(--f);stroke:var(--q);stroke-dasharray:4 4}.line{fill:none;stroke:var(--q);stroke-width:1.5}.open{fill:none;stroke:var(--a);stroke-width:2}.tip{fill:var(--q)}.opentip{fill:var(--a)}.life{stroke:var(--l)}',
  'svg{--t:#17191c;--q:#5a5f66;--l:#c9c5bc;--a:#0b6b57;--g:#e4f1ec;--f:#fff}',
  '@media(prefers-color-scheme:dark){svg{--t:#eceae5;--q:#a3a8b0;--l:#4a4f57;--a:#4cc9a7;--g:#16302a;--f:#1e2125}}',
].join('')

/** @returns the SVG's text, with a new line at its end */
export function drawingOf({ title, width, height, parts }: Drawing): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t">`,
    `<title id="t">${escapeText(title)}</title>`,
    `<style>${STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

/** A box with its name in the first line. */
export function box([x, y]: Point, [w, h]: Point, name: string, options: BoxOptions = {}): string {
  const { lines = [], kind = 'plain' } = options
  const frame = `<rect class="${kind}" x="${x}" y="${y}" width="${w}" height="${h}" rx="8"/>`
  const small = lines.map((line, index) => words([x + 14, y + 44 + index * SMALL_LINE_PX], line, 's'))
  return [frame, words([x + 14, y + 24], name, 'b'), ...small].join('')
}

/** @param classes `b` bold, `s` small, `m` centred, `c` code */
export function words([x, y]: Point, text: string, classes = ''): string {
  return `<text${classes && ` class="${classes}"`} x="${x}" y="${y}">${escapeText(text)}</text>`
}

export interface ArrowOptions {
  /** Above its middle. */
  label?: string
  /** Whether it carries what can be read at its ends alone. */
  isOpen?: boolean
  isBothWays?: boolean
}

/** A straight arrow, with a tip at its end. */
export function arrow([x1, y1]: Point, [x2, y2]: Point, options: ArrowOptions = {}): string {
  const { label, isOpen = false, isBothWays = false } = options
  const tip = (x: number, y: number, angle: number): string =>
    `<path class="${isOpen ? 'opentip' : 'tip'}" d="M0 0l-9 4.5v-9z" transform="translate(${x} ${y}) rotate(${angle})"/>`
  const angle = Math.round((Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI)
  return [
    `<path class="${isOpen ? 'open' : 'line'}" d="M${x1} ${y1}L${x2} ${y2}"/>`,
    tip(x2, y2, angle),
    isBothWays ? tip(x1, y1, angle + 180) : '',
    label === undefined ? '' : words([(x1 + x2) / 2, (y1 + y2) / 2 - 7], label, 's m'),
  ].join('')
}

/** The line of an actor in a sequence. */
export function life(x: number, [from, to]: Point): string {
  return `<path class="life" d="M${x} ${from}V${to}"/>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
