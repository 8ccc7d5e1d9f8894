// Formats the lines of leases.jsonl, and parses such a file, which may be damaged.

import { LEASE_TTL_MAX_S } from '@svc/protocol'
import { wideNetworkOfNetwork } from '../client-address/ip-address.ts'
import { NETWORK_MAX_CHARS } from '../client-address/ip-networks.ts'
import { fromWallTime, now, toWallTime } from '../clock.ts'
import { z } from '../config/schema.ts'
import type { Reservation } from './reservations.ts'

/** The longest time for which a certificate keeps a name, in milliseconds: no authority issues longer ones (CA/Browser Forum, 2020). */
const CERTIFIED_MAX_MS = 398 * 86_400_000

/** The start of each line, since its fields are always written in the same order. */
const BEGINNING = '{"identity_key":"'
const KEY_START = BEGINNING.length
/** Bounds of a line's length in bytes: every field empty or at its longest, with room to spare. */
const LINE_MIN_BYTES = 64
const LINE_MAX_BYTES = 1024
const LINE_FEED = 0x0a
const QUOTE = 0x22

const port = z.int().min(1).max(65_535).optional()
const line = z.object({
  identity_key: z.string(),
  hostname: z.string(),
  expires_at: z.iso.datetime().transform(Date.parse),
  ports: z.object({ tcp: port, udp: port }).optional(),
  certified_until: z.iso.datetime().transform(Date.parse).optional(),
  network: z.string().max(NETWORK_MAX_CHARS).optional(),
  /** Older relays write none, and ignore it. */
  away_page: z.boolean().optional(),
  /** As version 0.1.0 wrote the network, of leases with a certificate. */
  certified_from: z.string().max(NETWORK_MAX_CHARS).optional(),
})

export interface JournalContent {
  /** The last readable reservation of each identity, in the order of the file. */
  entries: [key: string, reservation: Reservation][]
  /** Number of malformed lines. */
  damaged: number
}

export function formatJournalLine(key: string, reservation: Reservation): string {
  const { hostname, expiresAt, ports, certifiedUntil, awayPage } = reservation
  const certified_until = certifiedUntil === undefined ? undefined : timeOf(certifiedUntil)
  const network = reservation.network && wideNetworkOfNetwork(reservation.network)
  const fields = {
    identity_key: key,
    hostname,
    expires_at: timeOf(expiresAt),
    ports,
    certified_until,
    network,
    away_page: awayPage || undefined,
  }
  return `${JSON.stringify(fields)}\n`
}

/**
 * Parses at most one line per identity, and damaged lines that look whole: a file with other content costs one scan. A
 * crash may have cut off the last line, before anybody relied on it.
 */
export function parseJournal(bytes: Buffer): JournalContent {
  const { lines, damaged } = splitLines(bytes)
  const content: JournalContent = { entries: [], damaged }
  const known = new Set<string>()
  for (const { start, end } of lines.reverse()) {
    const key = bytes.toString('latin1', start + KEY_START, keyEnd(bytes, start, end))
    if (known.has(key)) continue
    const entry = parse(bytes.toString('utf8', start, end))
    if (entry === undefined) {
      content.damaged += 1
      continue
    }
    known.add(key)
    content.entries.push(entry)
  }
  content.entries.reverse()
  return content
}

interface Span {
  start: number
  end: number
}

/** Lines of a plausible length and start, and the number of others. */
function splitLines(bytes: Buffer): { lines: Span[]; damaged: number } {
  const lines: Span[] = []
  let damaged = 0
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== LINE_FEED) continue
    if (isPlausible(bytes, start, at)) lines.push({ start, end: at })
    else damaged += 1
    start = at + 1
  }
  const rest = bytes.length - start
  return { lines, damaged: rest > LINE_MAX_BYTES ? damaged + 1 : damaged }
}

function isPlausible(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start
  if (length < LINE_MIN_BYTES || length > LINE_MAX_BYTES) return false
  for (let at = 0; at < BEGINNING.length; at++)
    if (bytes[start + at] !== BEGINNING.charCodeAt(at)) return false
  return true
}

function keyEnd(bytes: Buffer, start: number, end: number): number {
  const quote = bytes.indexOf(QUOTE, start + KEY_START)
  return quote < 0 || quote > end ? end : quote
}

function parse(text: string): [string, Reservation] | undefined {
  try {
    const { identity_key, hostname, expires_at, ports, certified_until, certified_from, ...rest } =
      line.parse(JSON.parse(text))
    const network = rest.network ?? certified_from
    // No lease ever got more: a clock that was wrong in the meantime must not keep a name longer.
    const expiresAt = Math.min(fromWallTime(expires_at), now() + LEASE_TTL_MAX_S * 1000)
    const certifiedUntil =
      certified_until && Math.min(fromWallTime(certified_until), now() + CERTIFIED_MAX_MS)
    const certified = certifiedUntil && { certifiedUntil }
    const away = rest.away_page && { awayPage: true }
    return [identity_key, { hostname, expiresAt, ports, network, ...certified, ...away }]
  } catch {
    return undefined
  }
}

/** By the wall clock, the only clock that a process shares with the one before it. */
function timeOf(time: number): string {
  return new Date(toWallTime(time)).toISOString()
}
