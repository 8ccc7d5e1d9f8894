// The page of the agent and of the inspector as an HTTP answer: one HTML file, which may load nothing and run only its own script.

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

/** PageEntry is what the page shows: tunnels and requests of an agent, or the requests of one command. */
type PageEntry = 'agent' | 'inspector'

/** The page's head, and what stands there for the inspector alone. */
const ENTRIES: readonly (readonly [agent: string, inspector: string])[] = [
  ['<html lang="en">', '<html lang="en" data-page="inspector">'],
  ['<title>svc agent</title>', '<title>Requests · svc</title>'],
]

const answers = new Map<PageEntry, Promise<PageAnswer>>()

/** Resolves with the page or, if it is not built, with a 503 that says so. */
export function pageAnswer(entry: PageEntry = 'agent'): Promise<PageAnswer> {
  const answer = answers.get(entry) ?? load(entry)
  answers.set(entry, answer)
  return answer
}

async function load(entry: PageEntry): Promise<PageAnswer> {
  try {
    const html = await installation().agentPage()
    const body =
      entry === 'agent'
        ? html
        : ENTRIES.reduce((page, [agent, inspector]) => page.replace(agent, inspector), html)
    return { status: OK, headers: { ...HEADERS, 'Content-Security-Policy': policyOf(body) }, body }
  } catch {
    // It may be built later.
    answers.delete(entry)
    const body = 'The page is not built: `npm run site` builds it. `svc` works without it.\n'
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
    // the empty icon, and pictures in bodies
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
