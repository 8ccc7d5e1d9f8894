// The document around each page of `/go/`: its style, and the policy that allows only its own script.

import { createHash } from 'node:crypto'
import { normalizeCanonicalLabel } from '@svc/protocol'
import { DOCUMENT_STYLE, documentHtml, small } from '@svc/protocol/documents'

/** What the pages of `/go/` have beside the style of every document. */
const STYLE = small(`
ul { border-block-start: 1px solid var(--line); list-style: none; margin: 0; padding: 0; }
li { border-block-end: 1px solid var(--line); }
li a { display: block; padding: 0.6rem 0; }
#state { color: var(--quiet); min-block-size: 3em; }
`)

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
  mainAttributes?: string
}

/** @param parts HTML, except the title and the script */
export function goDocument({ title, main, script, mainAttributes = '' }: GoDocumentParts): GoDocument {
  const after = script === undefined ? '' : `<script>${script}</script>\n`
  const html = documentHtml({ title, main, mainAttributes, style: STYLE, after, home: '/' })
  return { html, policy: policyOf(script) }
}

function policyOf(script: string | undefined): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${sourceHash(script)}`]),
    `style-src ${sourceHash(DOCUMENT_STYLE + STYLE)}`,
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

function sourceHash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`
}
