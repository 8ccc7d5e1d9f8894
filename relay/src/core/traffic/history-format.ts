// Formats the lines of history.jsonl, and parses such a file, which may be damaged.

import type { LeaseEvent } from '@svc/protocol'
import { NETWORK_MAX_CHARS } from '../client-address/ip-networks.ts'
import { fromWallTime, toWallTime } from '../clock.ts'
import { z } from '../config/schema.ts'
import { LEASE_EVENTS_MAX, type StoredHistory } from '../lease/lease-history.ts'
import type { StoredTraffic } from './lease-traffic.ts'
import { HOUR_MS, type StoredHour, TRAFFIC_HOURS } from './traffic-record.ts'
import { isMark, SKETCH_BYTES } from './visitor-sketch.ts'

/** An identity's traffic and history, or the traffic of all. */
export interface StoredSite {
  /** Undefined for the sums of all. */
  identityKey: string | undefined
  traffic?: StoredTraffic | undefined
  history?: StoredHistory | undefined
}

/** Bounds of a line in UTF-16 code units: every hour with a full sketch, and every event with the longest reason. */
const LINE_MAX_CHARS: number = 64 * 1024
const TEXT_MAX_CHARS = 256
/** A mark is two of these, of six bits each. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const DIGIT_BITS = 6
const DIGIT_MASK = 63

const text = z.string().max(TEXT_MAX_CHARS)
const network = z.string().max(NETWORK_MAX_CHARS)
const event = z.looseObject({ at: z.iso.datetime(), kind: text })
const line = z.object({
  identity_key: text.optional(),
  network: network.optional(),
  hours: z.array(z.unknown()).max(TRAFFIC_HOURS).optional(),
  history: z
    .object({
      is_active: z.boolean(),
      client_ip: text.optional(),
      network: network.optional(),
      changed_at: z.iso.datetime(),
      events: z.array(event).max(LEASE_EVENTS_MAX),
    })
    .optional(),
})

export function formatSite({ identityKey, traffic, history }: StoredSite): string {
  const fields = {
    identity_key: identityKey,
    network: traffic?.network || undefined,
    hours: traffic?.hours.map(formatHour),
    history: history && {
      is_active: history.isActive,
      client_ip: history.clientIp,
      network: history.network,
      changed_at: new Date(toWallTime(history.changedAt)).toISOString(),
      events: history.events,
    },
  }
  return `${JSON.stringify(fields)}\n`
}

/** @returns undefined for a line that is damaged */
export function parseSite(text: string): StoredSite | undefined {
  if (text.length > LINE_MAX_CHARS) return undefined
  try {
    const { identity_key: identityKey, network = '', hours, history } = line.parse(JSON.parse(text))
    return {
      identityKey,
      traffic: hours && { identityKey, network, hours: hours.map(parseHour) },
      history: history && {
        isActive: history.is_active,
        clientIp: history.client_ip,
        network: history.network,
        changedAt: fromWallTime(Date.parse(history.changed_at)),
        events: history.events as unknown as LeaseEvent[],
      },
    }
  } catch {
    return undefined
  }
}

/** The hour by the wall clock, bytes received and sent, connections, and the marks of visitors. */
type HourFields = [hour: number, received: number, sent: number, connections: number, marks: string]

function formatHour({ hour, received, sent, connections, marks }: StoredHour): HourFields {
  const digits = marks.map((mark) => `${DIGITS[mark >>> DIGIT_BITS]}${DIGITS[mark & DIGIT_MASK]}`)
  return [Math.round(toWallTime(hour * HOUR_MS) / HOUR_MS), received, sent, connections, digits.join('')]
}

/** Without a schema: a large file has hundreds of thousands. @throws TypeError */
function parseHour(fields: unknown): StoredHour {
  const [hour, received, sent, connections, digits, ...others] = fields as HourFields & unknown[]
  const counts = [hour, received, sent, connections]
  const isHour = counts.every((count) => Number.isSafeInteger(count) && count >= 0)
  if (!isHour || others.length > 0 || typeof digits !== 'string' || digits.length > 2 * SKETCH_BYTES)
    throw new TypeError('no hour')
  const marks: number[] = []
  for (let at = 0; at + 1 < digits.length; at += 2) {
    const mark = DIGITS.indexOf(digits[at]!) * (DIGIT_MASK + 1) + DIGITS.indexOf(digits[at + 1]!)
    if (isMark(mark)) marks.push(mark)
  }
  return { hour: Math.round(fromWallTime(hour * HOUR_MS) / HOUR_MS), received, sent, connections, marks }
}
