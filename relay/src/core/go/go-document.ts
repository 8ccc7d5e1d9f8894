// The document around each page of `/go/`: its style, and the policy that allows only its own script.

import { createHash } from 'node:crypto'
import { normalizeCanonicalLabel } from '@svc/protocol'

/** The frame, colours and type of the relay's other pages. */
const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f5f2, #15171a);
  --surface: light-dark(#fff, #1e2125);
  --text: light-dark(#1c1e21, #e8e6e1);
  --quiet: light-dark(#5c6066, #a3a8b0);
  --line: light-dark(#dddad3, #33373d);
  --accent: light-dark(#0b6b57, #4cc9a7);
  font: 1rem / 1.5 system-ui, sans-serif;
}
body { background: var(--ground); color: var(--text); margin: 0; overflow-wrap: anywhere; }
header { align-items: center; border-bottom: 1px solid var(--line); display: flex; min-height: 3rem; padding: 0 1.85rem; }
main { box-sizing: border-box; margin: 0 auto; max-width: 40rem; padding: clamp(1.25rem, 5vw, 3rem) 1.25rem; }
h1 { font-size: clamp(1.6rem, 6vw, 2.25rem); letter-spacing: -0.02em; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.1rem; line-height: 1.2; margin: 2rem 0 0.5rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
a.action {
  background: var(--surface);
  border: 1px solid currentcolor;
  border-radius: 0.5rem;
  display: inline-block;
  font-weight: 600;
  padding: 0.6rem 1rem;
  text-decoration: none;
}
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
ul { border-top: 1px solid var(--line); list-style: none; margin: 0; padding: 0; }
li { border-bottom: 1px solid var(--line); }
li a { display: block; padding: 0.6rem 0; }
code { font-family: ui-monospace, monospace; font-size: 0.9em; }
#state { color: var(--quiet); min-height: 3em; }
`

/** A self-contained page. */
export interface GoDocument {
  html: string
  /** Its Content-Security-Policy: allows only its own script and style, and lets the script request only this relay. */
  policy: string
}

interface GoDocumentParts {
  title: string
  main: string
  /** @default the page has none */
  script?: string
  bodyAttributes?: string
}

/** @param parts HTML, except the script */
export function goDocument({ title, main, script, bodyAttributes = '' }: GoDocumentParts): GoDocument {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body${bodyAttributes}>
<header><strong>svc</strong></header>
<main>
${main}</main>
${script === undefined ? '' : `<script>${script}</script>\n`}</body>
</html>
`
  return { html, policy: policyOf(script) }
}

function policyOf(script: string | undefined): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${sourceHash(script)}`]),
    `style-src ${sourceHash(STYLE)}`,
    'img-src data:',
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Returns the name of the site that has a label. @param label in lower case */
export function nameOf(label: string): string {
  return normalizeCanonicalLabel(label) === undefined ? label : label.slice(0, label.lastIndexOf('-'))
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

function sourceHash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`
}
