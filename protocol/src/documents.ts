// The frame and the style of the HTML documents that the relay and the SDKs write themselves. A document loads nothing.

/** An HtmlDocument is what one document has of its own. */
export interface HtmlDocument {
  /** The language of its words, as a tag of BCP 47. @default en */
  lang?: string
  /** `rtl` for a language that is written from right to left. @default ltr */
  dir?: string
  title: string
  /** The content of the element `main`, as HTML. */
  main: string
  /** Attributes of the element `main`, as HTML, each after a space. */
  mainAttributes?: string
  /** Attributes of the element `style`, as HTML, each after a space. */
  styleAttributes?: string
  /** Style beside {@link DOCUMENT_STYLE}. */
  style?: string
  /** Elements after `main`, as HTML. */
  after?: string
  /** The path behind the mark, as HTML. Without one, the mark leads nowhere. */
  home?: string
  /** Elements for the head, as HTML. By default the icon. */
  icon?: string
}

/** The values of relay/web/src/style/tokens.css, which a test compares. */
const TOKENS = `
color-scheme: light dark;
--ground: light-dark(#f6f5f2, #15171a);
--surface: light-dark(#ffffff, #1e2125);
--text: light-dark(#17191c, #eceae5);
--quiet: light-dark(#5a5f66, #a3a8b0);
--line: light-dark(#dedbd4, #33373d);
--accent: light-dark(#0b6b57, #4cc9a7);
--accent-ground: light-dark(#e4f1ec, #16302a);
--on-accent: light-dark(#ffffff, #08231c);
--wrong: light-dark(#b3261e, #ff8a80);
--font: "Figtree Variable", system-ui, sans-serif;
--mono: ui-monospace, "Cascadia Code", Menlo, Consolas, monospace;
--size-small: 0.875rem;
--size-title: 1.125rem;
--size-section: clamp(1.375rem, 1.2rem + 0.9vw, 1.75rem);
--space-1: 0.25rem;
--space-2: 0.5rem;
--space-3: 0.75rem;
--space-4: 1rem;
--space-5: 1.5rem;
--space-6: 2rem;
--round: 0.5rem;
--round-card: 0.875rem;
`

/** One card below the mark, in the middle of a wide screen and near the top of a tall one. */
const RULES = `
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { font: 1rem / 1.5 var(--font); }
body { background: var(--ground); color: var(--text); margin: 0 auto; max-inline-size: 36rem; overflow-wrap: anywhere; padding: clamp(var(--space-4), 9vh, 6rem) var(--space-4) var(--space-6); }
header { display: flex; margin: 0 0 var(--space-4); }
header svg { block-size: 1.75rem; fill: var(--accent); inline-size: 1.75rem; }
header strong { font-size: var(--size-title); letter-spacing: -0.01em; }
main { background: var(--surface); border: 1px solid var(--line); border-radius: var(--round-card); padding: clamp(var(--space-5), 6vw, var(--space-6)); }
main > :last-child { margin-block-end: 0; }
h1 { font-size: var(--size-section); letter-spacing: -0.02em; line-height: 1.2; margin: 0 0 var(--space-3); text-wrap: balance; }
h2 { font-size: var(--size-title); line-height: 1.3; margin: var(--space-6) 0 var(--space-2); }
p { margin: 0 0 var(--space-4); }
a { color: var(--accent); text-underline-offset: 0.15em; }
header > div, header > a { align-items: center; color: inherit; display: flex; gap: var(--space-2); text-decoration: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button, .action { align-items: center; background: var(--accent); border: 1px solid transparent; border-radius: var(--round); color: var(--on-accent); cursor: pointer; display: inline-flex; font: inherit; font-weight: 600; gap: var(--space-3); min-block-size: 2.75rem; padding: var(--space-2) var(--space-4); text-align: start; text-decoration: none; }
button:disabled { cursor: default; opacity: 0.55; }
button.plain, .action.plain { background: transparent; border-color: var(--line); color: inherit; }
label { display: grid; font-weight: 600; gap: var(--space-1); margin: 0 0 var(--space-4); }
input { background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); color: inherit; font: inherit; inline-size: 100%; min-block-size: 2.75rem; padding: var(--space-2) var(--space-3); }
code, pre { font-family: var(--mono); font-size: var(--size-small); }
pre { background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); margin: 0 0 var(--space-4); padding: var(--space-3); white-space: pre-wrap; }
nav, .quiet { color: var(--quiet); font-size: var(--size-small); }
nav { margin: 0 0 var(--space-2); }
.box { background: var(--accent-ground); border-radius: var(--round); margin: 0 0 var(--space-4); padding: var(--space-4); }
.box > :last-child { margin-block-end: 0; }
.problem { color: var(--wrong); }
.problem:empty, .state:empty { display: none; }
`

/** The style of each document, without spaces that nothing needs. */
export const DOCUMENT_STYLE: string = small(`:root {${TOKENS}}${RULES}`)

const MARK_PATH =
  'M6 3h7.5a4 4 0 0 1 3.3 1.8L18.2 7H26a4 4 0 0 1 4 4v14a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4Zm10 9.5a4 4 0 0 0-2 7.46V24h4v-4.04a4 4 0 0 0-2-7.46Z'
/** The mark of relay/web/public/favicon.svg, which a test compares. */
const MARK = `<svg viewBox="0 0 32 32" aria-hidden="true"><path fill-rule="evenodd" d="${MARK_PATH}"/></svg>`
/** The mark as an icon, in a colour that stands out on light and dark tabs. */
const ICON = `<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27 viewBox=%270 0 32 32%27%3E%3Cpath fill=%27%2316a085%27 fill-rule=%27evenodd%27 d=%27${MARK_PATH}%27/%3E%3C/svg%3E">`

/** Returns the HTML of a document. Its Content-Security-Policy has to allow its style, and images by `data:` for its icon. */
export function documentHtml(document: HtmlDocument): string {
  const {
    lang = 'en',
    dir = '',
    title,
    main,
    mainAttributes = '',
    styleAttributes = '',
    style = '',
    after = '',
    home,
  } = document
  const name = `${MARK}<strong>svc</strong>`
  const header = home === undefined ? `<div>${name}</div>` : `<a href="${home}">${name}</a>`
  return `<!doctype html>
<html lang="${lang}"${dir && ` dir="${dir}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f6f5f2" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#15171a" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex">
${document.icon ?? ICON}
<title>${escapeHtml(title)}</title>
<style${styleAttributes}>${DOCUMENT_STYLE}${style}</style>
</head>
<body>
<header>${header}</header>
<main${mainAttributes}>
${main}
</main>
${after}</body>
</html>
`
}

/** Returns `text` escaped for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Returns a style sheet without line breaks, and without spaces around brackets and after colons and semicolons. */
export function small(style: string): string {
  return style.replaceAll('\n', '').replaceAll(/ ?([{};:]) /g, '$1')
}
