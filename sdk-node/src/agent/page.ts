// The agent's page as an HTTP answer: one HTML file, which may load nothing and run only its own script.

import { createHash } from 'node:crypto'
import { installation } from '../installation.ts'

const OK = 200
const SERVICE_UNAVAILABLE = 503

/** The build writes one style and one script element, neither of which contains its end tag. */
const STYLE = ['<style>', '</style>'] as const
const SCRIPT = ['<script type="module">', '</script>'] as const

/** The page as an HTTP answer, with its security fields. */
export interface PageAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

let answer: Promise<PageAnswer> | undefined

/** Resolves with the page or, if it is not built, with a 503 that says so. */
export function pageAnswer(): Promise<PageAnswer> {
  answer ??= load()
  return answer
}

async function load(): Promise<PageAnswer> {
  try {
    const body = await installation().agentPage()
    return { status: OK, headers: { ...HEADERS, 'Content-Security-Policy': policyOf(body) }, body }
  } catch {
    // It may be built later.
    answer = undefined
    const body = "The agent's page is not built: `npm run site` builds it. `svc agent` works without it.\n"
    return {
      status: SERVICE_UNAVAILABLE,
      headers: { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' },
      body,
    }
  }
}

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Allows only its own style and script, by digest, and requests to the agent (CSP Level 3). */
function policyOf(html: string): string {
  return [
    "default-src 'none'",
    `script-src '${digestBetween(html, SCRIPT)}'`,
    `style-src '${digestBetween(html, STYLE)}'`,
    "connect-src 'self'",
    // the empty icon
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function digestBetween(html: string, [begin, end]: readonly [string, string]): string {
  const at = html.indexOf(begin) + begin.length
  const text = html.slice(at, html.indexOf(end, at))
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
