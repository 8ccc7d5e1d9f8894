// Answers `/go/<name>` with a redirect to a site of this relay, a page that names the host of a site elsewhere, or a page that
// asks again from time to time.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { PATH } from '@svc/protocol'
import { protectPage, refuseMethod } from '../api/handlers/static-files.ts'
import { type BodyWriter, piecesOf } from '../api/http/body-writer.ts'
import { pathOf } from '../api/http/request.ts'
import { type Handler, RATE_LIMITED_DELAY_MS } from '../api/http/server.ts'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import { RelayError } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { RateLimits } from '../rate-limit/client-rate-limits.ts'
import type { GoDocument } from './go-document.ts'
import { type Absence, type GoPage, renderGoPage, renderNoSitePage } from './go-page.ts'
import { type GoTarget, goUrl, readGoTarget, siteUrl } from './go-target.ts'
import type { SitesHere } from './sites-here.ts'

/** A search for a site at other relays. */
interface SearchResult {
  /** Origin of the relay that has the site, if one has. */
  origin: string | undefined
  asked: number
  known: number
}

/** Sites at other relays, which a relay with discovery adds. */
export interface SitesElsewhere {
  /** @param label canonical */
  find(label: string, onBegin: (wasFoundBefore: boolean) => void): Promise<SearchResult>
  /** Origins of the other relays. */
  otherRelays(): Iterable<string>
  /** Returns whether visitors reach a lease of this relay through another one. */
  isReachedByRelay(lease: Lease): boolean
  /** Returns whether the operator banned or denied the site: then the relay leads nobody to it, wherever it is. @param label canonical */
  isBarred(label: string): boolean
  /** Makes the page that names the host of a site elsewhere. @param label canonical */
  renderPage(label: string, url: string): GoDocument
}

export interface GoParts {
  /** Origin of the relay's URL. */
  origin: string
  sites: Pick<SitesHere, 'find' | 'isWaiting'>
  /** Undefined if this relay knows no others. */
  elsewhere: SitesElsewhere | undefined
  isClosing: () => boolean
  clientAddresses: Pick<ClientAddresses, 'ofRequest'>
  rateLimits: Pick<RateLimits, 'chargeGoVisit' | 'chargeSiteSearch'>
  writer: BodyWriter
  counters: Pick<RelayCounters, 'goVisits'>
}

const OK = 200
const FOUND = 302
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
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response)
    if (target === undefined)
      return await sendPage(parts.writer, request, response, NOT_FOUND, renderNoSitePage())
    await lead(parts, target, request, response)
  }
}

async function lead(
  parts: GoParts,
  target: GoTarget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { origin, sites, elsewhere, clientAddresses, rateLimits, counters, writer } = parts
  const { rest, isCanonical } = target
  const label = sites.find(target)
  if (label !== undefined) {
    counters.goVisits.here += 1
    return redirect(response, siteUrl(origin, { label, rest }))
  }
  const others = isCanonical ? someOf(elsewhere?.otherRelays() ?? []) : []
  const page: GoPage = {
    absence: absenceOf(parts, target),
    target,
    links: others.map((relay) => goUrl(relay, target)),
    retryS: RETRY_S,
  }
  try {
    rateLimits.chargeGoVisit(clientAddresses.ofRequest(request))
    const found = page.absence === 'away' ? await search(parts, target, request) : undefined
    if (found?.url !== undefined) {
      counters.goVisits.elsewhere += 1
      // Another host has another operator: the visitor sees its name before going there.
      return await sendPage(writer, request, response, OK, elsewhere!.renderPage(target.label, found.url))
    }
    counters.goVisits.nowhere += 1
    await sendAbsence(writer, request, response, { ...page, asked: found?.asked })
  } catch (error) {
    if (!(error instanceof RelayError) || error.code !== 'rate_limited' || response.headersSent) throw error
    counters.goVisits.busy += 1
    await pause(RATE_LIMITED_DELAY_MS)
    const retryS = Number(error.headers['Retry-After'] ?? RETRY_S)
    await sendAbsence(writer, request, response, { ...page, absence: 'busy', retryS })
  }
}

function absenceOf({ sites, isClosing }: GoParts, target: GoTarget): Absence {
  if (isClosing()) return 'draining'
  return sites.isWaiting(target) ? 'approval' : 'away'
}

interface Searched {
  /** The site's URL at another relay, to which visitors may be led. */
  url: string | undefined
  asked: SearchResult
}

/**
 * Looks for the site at other relays, also for one that is banned here: its answer must cost and say the same as that for a
 * site that nobody has. A search that is shared with other visitors does not count against the visitor's network.
 */
async function search(
  { elsewhere, rateLimits, clientAddresses }: GoParts,
  target: GoTarget,
  request: IncomingMessage,
): Promise<Searched | undefined> {
  const { label, isCanonical } = target
  if (elsewhere === undefined || !isCanonical) return undefined
  const clientIp = clientAddresses.ofRequest(request)
  const asked = await elsewhere.find(label, (wasFound) => rateLimits.chargeSiteSearch(clientIp, wasFound))
  const isThere = asked.origin !== undefined && !elsewhere.isBarred(label)
  return { asked, url: isThere ? siteUrl(asked.origin!, target) : undefined }
}

function redirect(response: ServerResponse, url: string): void {
  response.writeHead(FOUND, { ...NOT_KEPT, Location: url, 'Content-Length': '0' }).end()
}

async function sendAbsence(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  page: GoPage,
): Promise<void> {
  response.setHeader('Retry-After', `${page.retryS}`)
  const status = page.absence === 'busy' ? TOO_MANY_REQUESTS : SERVICE_UNAVAILABLE
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
