// The page of the agent and of the inspector as HTTP answers: its files, which may run and load only each other.

import { documentHtml } from '@svc/protocol/documents'
import { installation, PAGE_FILES, type PageFile } from '../installation.ts'
import { ERROR_PAGE_FIELDS } from './error-page.ts'

const OK = 200
const SERVICE_UNAVAILABLE = 503

/** A file of the page as an HTTP answer, with its security fields. */
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

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css' } as const

const HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Of this server, these files alone are scripts or styles: the answers of its API are JSON, which no browser runs.
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    // the empty icon, and pictures in bodies
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
}

const answers = new Map<string, Promise<PageAnswer>>()

/**
 * Resolves with a file of the page or, if it is not built, with a 503 that says so; with undefined for other paths.
 * @param path `/`, or that of a script or a style
 */
export async function pageAnswer(path: string, entry: PageEntry = 'agent'): Promise<PageAnswer | undefined> {
  const name = path === '/' ? 'index.html' : path.slice(1)
  const file = PAGE_FILES.find((each) => each === name)
  if (file === undefined) return undefined
  const key = `${entry} ${file}`
  const answer = answers.get(key) ?? load(file, entry)
  answers.set(key, answer)
  const known = await answer
  // It may be built later.
  if (known.status !== OK) answers.delete(key)
  return known
}

async function load(file: PageFile, entry: PageEntry): Promise<PageAnswer> {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1) as keyof typeof TYPES]
  const headers = { ...HEADERS, 'Content-Type': `${type}; charset=utf-8` }
  try {
    const text = await installation().agentPage(file)
    const isChanged = file === 'index.html' && entry === 'inspector'
    const body = isChanged
      ? ENTRIES.reduce((page, [agent, inspector]) => page.replace(agent, inspector), text)
      : text
    return { status: OK, headers, body }
  } catch {
    const title = 'The page is not built'
    const main = `<h1>${title}</h1>\n<p><code>npm run site</code> builds it. <code>svc</code> works without it.</p>`
    return {
      status: SERVICE_UNAVAILABLE,
      headers: { ...headers, ...ERROR_PAGE_FIELDS },
      body: documentHtml({ title, main }),
    }
  }
}
