// The away page: one answer for every request, without scripts.

import { createHash } from 'node:crypto'
import { PATH } from '@svc/protocol'
import { AWAY_RETRY_S } from './limits.ts'

/** The colours and type of the relay's other pages. */
const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f5f2, #15171a);
  --text: light-dark(#1c1e21, #e8e6e1);
  --accent: light-dark(#0b6b57, #4cc9a7);
  font: 1rem / 1.5 system-ui, sans-serif;
}
body { background: var(--ground); color: var(--text); margin: 0; overflow-wrap: anywhere; }
main { box-sizing: border-box; margin: 0 auto; max-width: 40rem; padding: clamp(1.25rem, 5vw, 3rem) 1.25rem; }
h1 { font-size: clamp(1.6rem, 6vw, 2.25rem); letter-spacing: -0.02em; line-height: 1.2; margin: 0 0 0.5rem; }
a { color: var(--accent); }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`

/**
 * Makes the whole answer, in HTTP/1.1.
 * @param label first label of the site's hostname
 * @param origin of the relay, whose page waits for the site
 */
export function awayAnswer(label: string, origin: string, hasBody: boolean): string {
  const body = awayDocument(label, origin)
  const head = [
    'HTTP/1.1 503 Service Unavailable',
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Security-Policy: ${POLICY}`,
    'Cache-Control: no-store',
    'Referrer-Policy: no-referrer',
    `Retry-After: ${AWAY_RETRY_S}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${hasBody ? body : ''}`
}

function awayDocument(label: string, origin: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${label} is not here right now</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${label} is not here right now</h1>
<p>The relay shows this page while the site is closed.</p>
<p><a href="${origin}${PATH.go}${label}">Wait for the site</a></p>
</main>
</body>
</html>
`
}
