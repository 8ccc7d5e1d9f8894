// Answers `/go/<name>-<address>` with a redirect to a site of this relay, a page that names the host of a site
// elsewhere, or a page that asks again from time to time.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { PATH } from '@svc/protocol'
import { protectPage, refuseMethod } from '../../core/api/handlers/static-files.ts'
import { type BodyWriter, piecesOf } from '../../core/api/http/body-writer.ts'
import { sendText } from '../../core/api/http/envelope.ts'
import { pathOf } from '../../core/api/http/request.ts'
import { type Handler, RATE_LIMITED_DELAY_MS } from '../../core/api/http/server.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { RelayError } from '../../core/errors.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import { renderElsewherePage } from './elsewhere-page.ts'
import type { GoDocument } from './go-document.ts'
import { type GoPage, renderGoPage } from './go-page.ts'
import { type GoTarget, goUrl, readGoTarget, siteUrl } from './go-target.ts'
import type { PresentSites } from './present-sites.ts'

/** A search for a site at other relays. */
interface SearchResult {
  /** Origin of the relay that has the site, if one has. */
  origin: string | undefined
  asked: number
  known: number
}

/**
 * Where a visitor of `/go/` was led: to this relay, to another one, or to none, either for lack of the site or because
 * too many came.
 */
type GoOutcome = 'here' | 'elsewhere' | 'nowhere' | 'busy'

export interface GoParts {
  /** Origin of the relay's URL. */
  origin: string
  sites: Pick<PresentSites, 'has' | 'isBarred'>
  search: {
    find(label: string, onBegin: (wasFoundBefore: boolean) => void): Promise<SearchResult>
  }
  /** Origins of the other relays. */
  otherRelays: () => Iterable<string>
  clientAddresses: ClientAddresses
  rateLimits: Pick<RateLimits, 'chargeSiteSearch'>
  writer: BodyWriter
  onOutcome: (outcome: GoOutcome) => void
}

const OK = 200
const FOUND = 302
const FORBIDDEN = 403
const NOT_FOUND = 404
const TOO_MANY_REQUESTS = 429
const SERVICE_UNAVAILABLE = 503
/** Seconds after which a client without scripts may ask again: search results are valid that long. */
const RETRY_S = 5
/** Other relays that the page names. */
const LINKS_MAX = 4
const NOT_KEPT = { 'Cache-Control': 'no-store' }

/** @param next handles every other path */
export function createGo(parts: GoParts, next: Handler): Handler {
  return async (request, response) => {
    if (!pathOf(request).startsWith(PATH.go)) return await next(request, response)
    protectPage(response)
    const target = readGoTarget(request.url ?? '')
    if (target === undefined) return sendText(response, NOT_FOUND, 'No site has such an address.\n', NOT_KEPT)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response)
    if (parts.sites.isBarred(target.label))
      return sendText(response, FORBIDDEN, 'This relay leads nobody to that site.\n', NOT_KEPT)
    await lead(parts, target, request, response)
  }
}

async function lead(
  parts: GoParts,
  target: GoTarget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { origin, sites, onOutcome } = parts
  if (sites.has(target.label)) {
    onOutcome('here')
    return redirect(response, siteUrl(origin, target))
  }
  const links = someOf(parts.otherRelays()).map((relay) => goUrl(relay, target))
  try {
    const result = await searchFor(parts, target.label, request)
    onOutcome(result.origin === undefined ? 'nowhere' : 'elsewhere')
    if (result.origin !== undefined) {
      // Another host has another operator: the visitor sees its name before going there.
      const page = renderElsewherePage(target.label, siteUrl(result.origin, target))
      return await sendPage(parts.writer, request, response, OK, page)
    }
    const page = { target, links, retryS: RETRY_S, asked: result }
    await sendAbsence(parts.writer, request, response, SERVICE_UNAVAILABLE, page)
  } catch (error) {
    if (!(error instanceof RelayError) || error.code !== 'rate_limited' || response.headersSent) throw error
    onOutcome('busy')
    await pause(RATE_LIMITED_DELAY_MS)
    const retryS = Number(error.headers['Retry-After'] ?? RETRY_S)
    await sendAbsence(parts.writer, request, response, TOO_MANY_REQUESTS, { target, links, retryS })
  }
}

/** A search that is shared with other visitors does not count against the visitor's network. */
function searchFor(
  { search, rateLimits, clientAddresses }: GoParts,
  label: string,
  request: IncomingMessage,
): Promise<SearchResult> {
  const clientIp = clientAddresses.ofRequest(request)
  return search.find(label, (wasFoundBefore) => rateLimits.chargeSiteSearch(clientIp, wasFoundBefore))
}

function redirect(response: ServerResponse, url: string): void {
  response.writeHead(FOUND, { ...NOT_KEPT, Location: url, 'Content-Length': '0' }).end()
}

async function sendAbsence(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  page: GoPage,
): Promise<void> {
  response.setHeader('Retry-After', `${page.retryS}`)
  await sendPage(writer, request, response, status, renderGoPage(page))
}

async function sendPage(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { html, policy }: GoDocument,
): Promise<void> {
  const body = Buffer.from(html)
  const headers = {
    ...NOT_KEPT,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Content-Length': `${body.length}`,
  }
  await writer.send(request, response, { status, headers, size: body.length, pieces: piecesOf(body) })
}

function someOf(origins: Iterable<string>): string[] {
  const all = [...origins]
  const start = Math.floor(Math.random() * all.length)
  return [...all.slice(start), ...all.slice(0, start)].slice(0, LINKS_MAX)
}
