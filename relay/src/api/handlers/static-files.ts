// The static site at the root host, for paths that the API does not reserve.

import type { ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import { lookup } from 'mrmime'
import type { BodyWriter } from '../http/body-writer.ts'
import { type ContentCoding, takesCoding } from '../http/content-coding.ts'
import { sendText } from '../http/envelope.ts'
import { sendFile } from '../http/file-response.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { findFile, type StoredFile } from '../http/stored-file.ts'

const NOT_FOUND = 404
const METHOD_NOT_ALLOWED = 405
/** The relay's public face: the landing page, and the list of sites that it leads to. */
const LANDING_PAGE = /^(?:sites\/)?index\.html$|^sites\.html$/i
/** A file whose name changes with its content, as Vite makes them. */
const HASHED_ASSET = /(?:^|\/)assets\/[^/]+-[\w-]{8}\.\w+$/
/** What begins with a dot is not meant for the public, and what leads out of the directory begins with one, too. */
const HIDDEN = /(?:^|\/)\./
/** On Windows, `~` and a digit may be the short form of any name, and `:` leads to another volume or stream. */
const NO_NAME = sep === '\\' ? /[\0\\:]|~\d/ : /[\0\\]/
/** Files that lie beside a file, compressed already; the smallest first. */
const CODINGS: readonly [ContentCoding, string][] = [
  ['br', '.br'],
  ['gzip', '.gz'],
]

/**
 * Of every answer, because every page here shares its origin with the administrator's: only what the site brought along
 * runs, nobody frames it, and nothing but pictures comes from elsewhere.
 */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: https:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * Looks at the files at each request: a rebuild shows at the next load, and cannot leave a file that is gone.
 * @param isOff whether a page is not to be found, by the name of its file: below the directory, with `/` between folders
 */
export function createStaticFiles(
  directory: string,
  isOff: (name: string) => boolean,
  writer: BodyWriter,
): Handler {
  return async (request, response) => {
    protectPage(response)
    const page = await findPage(directory, pathOf(request))
    if (page === undefined || isOff(page.name)) return notFound(response)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response)
    const [file, coding] = await bestOf(page.file, request.headers['accept-encoding'])
    await sendFile(writer, request, response, file, {
      content: {
        'Content-Type': mediaTypeOf(page.name),
        ...(coding !== undefined && { 'Content-Encoding': coding }),
      },
      common: {
        Vary: 'Accept-Encoding',
        'Cache-Control': HASHED_ASSET.test(page.name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    })
  }
}

/** @param name of a file, as of {@link createStaticFiles} */
export function isLandingPage(name: string): boolean {
  return LANDING_PAGE.test(name)
}

/** Sets what holds for every answer beside the API. */
export function protectPage(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
}

interface Page {
  /** Below the directory, with `/` between folders. */
  name: string
  file: StoredFile
}

/** In a process that only passes such requests on. */
export const noStaticFiles: Handler = (_request, response) => notFound(response)

/** A page is found without its `.html`, and a folder by its index. */
async function findPage(directory: string, path: string): Promise<Page | undefined> {
  const decoded = decode(path)
  if (decoded === undefined || NO_NAME.test(decoded) || HIDDEN.test(decoded)) return undefined
  const name = decoded.split('/').filter(Boolean).join('/')
  const index = name === '' ? 'index.html' : `${name}/index.html`
  const names = decoded.endsWith('/') ? [index] : [name, `${name}.html`, index]
  for (const name of names) {
    const file = await findFile(join(directory, name))
    if (file !== undefined) return { name, file }
  }
  return undefined
}

/** @returns undefined for what is not UTF-8 in percent-encoding (RFC 3986 §2.1) */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** The file, or what lies beside it compressed in a way that the client takes. */
async function bestOf(
  file: StoredFile,
  accepted: string | string[] | undefined,
): Promise<[StoredFile, ContentCoding?]> {
  for (const [coding, ending] of CODINGS) {
    const compressed = takesCoding(`${accepted ?? ''}`, coding) && (await findFile(`${file.path}${ending}`))
    if (compressed) return [compressed, coding]
  }
  return [file]
}

function mediaTypeOf(name: string): string {
  const type = lookup(name) ?? 'application/octet-stream'
  return type === 'text/html' || type === 'text/plain' ? `${type}; charset=utf-8` : type
}

function notFound(response: ServerResponse): void {
  sendText(response, NOT_FOUND, 'Not found\n')
}

export function refuseMethod(response: ServerResponse): void {
  sendText(response, METHOD_NOT_ALLOWED, 'This page takes GET, HEAD\n', { Allow: 'GET, HEAD' })
}
