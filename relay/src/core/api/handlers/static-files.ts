// Serves static files at the root host, for paths that the API does not reserve.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import { type ContentCoding, takesCoding } from '../../http/content-coding.ts'
import { isShown } from '../../http/error-page.ts'
import { mediaTypeOf } from '../../http/media-type.ts'
import { sendBody } from '../http/body-response.ts'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { type FileHeaders, sendFile } from '../http/file-response.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { findFile, readPieces, type StoredFile } from '../http/stored-file.ts'
import { PicturedPages } from './pictured-pages.ts'

const NOT_FOUND = 404
const METHOD_NOT_ALLOWED = 405
/** The landing page and the list of sites. */
const LANDING_PAGE = /^(?:sites\/)?index\.html$|^sites\.html$/i
/** A file whose name changes with its content, as Vite and Astro name them. */
const HASHED_ASSET = /(?:^|\/)assets\/[^/]+[-.][\w-]{8}\.\w+$/
/** Hidden files and `..`, which would lead out of the directory. */
const HIDDEN = /(?:^|\/)\./
/** On Windows, `~` and a digit may be the short form of any name, and `:` leads to another volume or stream. */
const INVALID_NAME = sep === '\\' ? /[\0\\:]|~\d/ : /[\0\\]/
/** Sections of the administration, and single sites in them: all are one document, which shows them by itself. */
const ADMIN_SECTION = /^\/admin\/[a-z]+(?:\/[\w:%-]+)?\/?$/
/** The page for people who ask for one that is not there; its links lead to the front page and others. */
const NOT_FOUND_PAGE = '404.html'
const FRONT_PAGE = 'index.html'
/** Endings of compressed files beside a file, the smallest first. */
const CODINGS: readonly [ContentCoding, string][] = [
  ['br', '.br'],
  ['gzip', '.gz'],
]

/**
 * The policy of every page, since all share their origin with the administration: pages run only their own scripts, cannot
 * be framed, and load nothing from other origins.
 */
export const PAGE_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every response. */
const HEADERS = {
  'Content-Security-Policy': PAGE_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/** The script of a worker of `/relays`, as Vite names it. */
const RELAY_PROBE = /(?:^|\/)assets\/relay-probe-[\w-]{8}\.js$/
/** That worker asks other relays how far away they are. It has its own policy, so that no page may ask other origins. */
const RELAY_PROBE_POLICY = "default-src 'none'; connect-src https:"

interface StaticFilesOptions {
  /** What the paths of all files begin with; the request has it. */
  prefix?: RegExp
  /**
   * Their Content-Security-Policy.
   * @default PAGE_POLICY
   */
  policy?: string
  /** Origin of the relay, which the URLs of pages' pictures get. */
  origin?: string
}

/**
 * Looks for files at each request, so that a rebuild shows at the next load.
 * @param isOff whether the relay hides a page, called with its file's name below the directory, with `/` between folders
 */
export function createStaticFiles(
  directory: string,
  isOff: (name: string) => boolean,
  writer: BodyWriter,
  { prefix, policy, origin }: StaticFilesOptions = {},
): Handler {
  const pages = origin === undefined ? undefined : new PicturedPages(origin)
  const sendNotFound = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isForPeople = isShown(request.headers) && !isOff(FRONT_PAGE)
    const page = isForPeople ? await findFile(join(directory, NOT_FOUND_PAGE)) : undefined
    if (page === undefined) return notFound(response)
    const [file, coding] = await bestOf(page, request.headers['accept-encoding'])
    const headers = {
      'Content-Type': mediaTypeOf(NOT_FOUND_PAGE),
      'Content-Length': `${file.size}`,
      'Cache-Control': 'no-store',
      Vary: 'Accept, Sec-Fetch-Mode, Accept-Encoding',
      ...(coding !== undefined && { 'Content-Encoding': coding }),
    }
    const pieces = readPieces(file, { start: 0, end: file.size - 1 })
    await writer.send(request, response, { status: NOT_FOUND, headers, size: file.size, pieces })
  }
  return async (request, response) => {
    protectPage(response)
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy)
    const path = pathOf(request)
    const page = await findPage(directory, prefix === undefined ? path : path.replace(prefix, ''))
    if (page === undefined || page.name === NOT_FOUND_PAGE || isOff(page.name))
      return await sendNotFound(request, response)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response)
    if (RELAY_PROBE.test(page.name)) response.setHeader('Content-Security-Policy', RELAY_PROBE_POLICY)
    const accepted = request.headers['accept-encoding']
    const pictured = await pages?.of(page.file, `${accepted ?? ''}`)
    if (pictured !== undefined)
      return await sendBody(writer, request, response, pictured.body, headersOf(page, pictured.coding))
    const [file, coding] = await bestOf(page.file, accepted)
    await sendFile(writer, request, response, file, headersOf(page, coding))
  }
}

function headersOf({ name }: Page, coding: ContentCoding | undefined): FileHeaders {
  return {
    content: {
      'Content-Type': mediaTypeOf(name),
      ...(coding !== undefined && { 'Content-Encoding': coding }),
    },
    common: {
      Vary: 'Accept-Encoding',
      'Cache-Control': HASHED_ASSET.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    },
  }
}

/** @param name a file's name as in {@link createStaticFiles} */
export function isLandingPage(name: string): boolean {
  return LANDING_PAGE.test(name)
}

/** Sets the headers of every response outside the API. */
export function protectPage(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
}

interface Page {
  /** Name below the directory, with `/` between folders. */
  name: string
  file: StoredFile
}

/** Handler of a process that serves no files. */
export const noStaticFiles: Handler = (_request, response) => notFound(response)

/** Finds the page of a path: a file, or the administration for its sections. */
async function findPage(directory: string, path: string): Promise<Page | undefined> {
  const page = await findNamed(directory, path)
  return page === undefined && ADMIN_SECTION.test(path) ? await findNamed(directory, '/admin/') : page
}

/** Finds the file of a path. A page needs no `.html`, and a folder leads to its index. */
async function findNamed(directory: string, path: string): Promise<Page | undefined> {
  const decoded = decode(path)
  if (decoded === undefined || INVALID_NAME.test(decoded) || HIDDEN.test(decoded)) return undefined
  const name = decoded.split('/').filter(Boolean).join('/')
  const index = name === '' ? 'index.html' : `${name}/index.html`
  const names = decoded.endsWith('/') ? [index] : [name, `${name}.html`, index]
  for (const name of names) {
    const file = await findFile(join(directory, name))
    if (file !== undefined) return { name, file }
  }
  return undefined
}

/** @returns undefined for invalid percent-encoding or UTF-8 (RFC 3986 §2.1) */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** The file, or a compressed form of it that the client accepts. */
export async function bestOf(
  file: StoredFile,
  accepted: string | string[] | undefined,
): Promise<[StoredFile, ContentCoding?]> {
  for (const [coding, ending] of CODINGS) {
    const compressed = takesCoding(`${accepted ?? ''}`, coding) && (await findFile(`${file.path}${ending}`))
    if (compressed) return [compressed, coding]
  }
  return [file]
}

function notFound(response: ServerResponse): void {
  sendText(response, NOT_FOUND, 'Not found\n')
}

export function refuseMethod(response: ServerResponse): void {
  sendText(response, METHOD_NOT_ALLOWED, 'This page takes GET, HEAD\n', { Allow: 'GET, HEAD' })
}
