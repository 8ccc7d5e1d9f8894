// Draws screens of a terminal as one SVG: light text on dark, one after the other by CSS alone, and the last one stays.

export interface Frame {
  /** Lines with escape sequences, of which colours of QR codes count. */
  lines: readonly string[]
  /** How long it is shown, in milliseconds. */
  ms: number
}

export interface RecordingText {
  /** Its text alternative. */
  title: string
  columns: number
}

const FONT_PX = 14
const CHARACTER_PX = 8.4
const LINE_PX = 20
const PADDING_PX = 20
const BAR_PX = 34
/** Of the sequence that a QR code begins with (sdk-node/src/cli/tui/qr-code.ts). */
const QR_COLOURS = '48;5;231'
const ESCAPE = '\x1b'
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one.
const SEQUENCES = /\x1b\[[\d;]*m/g

/** The colours of the dark pages (relay/web/src/style/tokens.css). */
const STYLE = `text{font:${FONT_PX}px ui-monospace,"Cascadia Code",Menlo,Consolas,monospace;fill:#eceae5;white-space:pre}.q{fill:#a3a8b0}.a{fill:#4cc9a7}`

/** @returns the SVG's text, with a new line at its end */
export function drawRecording(frames: readonly Frame[], { title, columns }: RecordingText): string {
  const rows = Math.max(...frames.map(({ lines }) => lines.length))
  const width = Math.ceil(columns * CHARACTER_PX) + 2 * PADDING_PX
  const height = BAR_PX + rows * LINE_PX + PADDING_PX
  const dots = [0, 1, 2].map((n) => `<circle cx="${PADDING_PX + n * 18}" cy="18" r="5" fill="#33373d"/>`)
  const screens = frames.map(({ lines }, index) => `<g class="f f${index}">${drawLines(lines)}</g>`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t">`,
    `<title id="t">${escapeText(title)}</title>`,
    `<style>${STYLE}${frames.length > 1 ? motionOf(frames) : ''}</style>`,
    `<rect width="${width}" height="${height}" rx="12" fill="#15171a"/>${dots.join('')}`,
    ...screens,
    '</svg>\n',
  ].join('\n')
}

/** Each frame is seen in its part of the time, once; then, and where a reader wants no motion, the last one is. */
function motionOf(frames: readonly Frame[]): string {
  const last = frames.length - 1
  const ends = frames.map((_, index) => frames.slice(0, index + 1).reduce((sum, { ms }) => sum + ms, 0))
  const total = ends[last]!
  const percent = (ms = 0): string => `${Number(((ms / total) * 100).toFixed(2))}%`
  const rules = frames.map((_, index) => {
    const before = index === 0 ? '' : '0%{opacity:0}'
    const after = index === last ? '' : `${percent(ends[index])},100%{opacity:0}`
    return `@keyframes k${index}{${before}${percent(ends[index - 1])}{opacity:1}${after}}.f${index}{animation-name:k${index}}`
  })
  return [
    `.f:not(.f${last}){opacity:0}`,
    '@media (prefers-reduced-motion:no-preference){',
    `.f{animation:${total}ms step-end}${rules.join('')}}`,
  ].join('')
}

/** Draws the lines of a screen: a terminal keeps a colour from line to line until another sequence. */
function drawLines(lines: readonly string[]): string {
  let isCode = false
  return lines
    .map((line, row) => {
      const y = BAR_PX + row * LINE_PX
      isCode = line.includes(QR_COLOURS) || (isCode && !line.startsWith(ESCAPE))
      const text = line.replace(SEQUENCES, '')
      if (isCode) return drawModules(text, y)
      return text.trim() === ''
        ? ''
        : `<text x="${PADDING_PX}" y="${y + FONT_PX + 1}">${spansOf(text.trimEnd())}</text>`
    })
    .join('')
}

/** The prompt is quiet and addresses have the accent, as terminals that know links show them. */
function spansOf(text: string): string {
  return escapeText(text)
    .replace(/^\$ /, '<tspan class="q">$ </tspan>')
    .replace(/https:\/\/[^\s<]+/g, '<tspan class="a">$&</tspan>')
}

/** A line of a QR code, two rows of modules, as rectangles: glyphs of half blocks leave gaps in many fonts. */
function drawModules(text: string, y: number): string {
  const half = LINE_PX / 2
  const runs = (blocks: RegExp, top: number): string =>
    [...text.matchAll(blocks)]
      .map(
        ({ 0: run, index }) =>
          `M${PADDING_PX + index * half} ${top}h${run.length * half}v${half}h-${run.length * half}z`,
      )
      .join('')
  const white = `<path fill="#fff" d="M${PADDING_PX} ${y}h${text.length * half}v${LINE_PX}h-${text.length * half}z"/>`
  return `${white}<path d="${runs(/[█▀]+/g, y)}${runs(/[█▄]+/g, y + half)}"/>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
