// Formats the entry of a lease in the engine, and parses it. Its first four fields are those that scripts.ts reads.

import { z } from '../../config/schema.ts'
import type { Lease } from '../../lease/lease.ts'
import { NO_PREFERENCES } from '../../lease/lease-preferences.ts'
import type { SharedLease } from '../../lease/lease-sharing.ts'
import type { EngineClock } from '../engine/engine-clock.ts'

/** Stands for no friendly hostname, which no hostname is. */
export const NO_HOSTNAME = '-'
const ENTRY = /^(\d{1,15}) (\d{1,15}) ([01]) (\S+) (.*)$/s

const port = z.int().min(1).max(65_535).optional()
/** Unknown members are those of a newer version. */
const schema = z.object({
  id: z.string(),
  machine: z.string(),
  identity: z.object({ name: z.string(), address: z.string() }),
  metadata: z.object({
    description: z.string().optional(),
    owner: z.string().optional(),
    thumbnail: z.string().optional(),
    tags: z.array(z.string()).optional(),
    hide: z.boolean().optional(),
  }),
  firstSeen: z.number(),
  lastSeen: z.number(),
  clientIp: z.string(),
  reportedIp: z.string().optional(),
  ports: z.object({ tcp: port, udp: port }).optional(),
  portHost: z.string().optional(),
  preferences: z
    .object({ cache: z.boolean(), cacheTtlS: z.number(), overlay: z.boolean() })
    .default(NO_PREFERENCES),
})

export interface LeaseEntry {
  sequence: number
  /** Relay time. */
  expiresAt: number
  /** Whether the site has given the lease up. */
  isEnded: boolean
  /** Empty when the lease has no friendly hostname. */
  hostname: string
  /** Undefined where only the reservation is left of the lease, or this version cannot read it. */
  lease: SharedLease | undefined
}

type Described = Omit<SharedLease, 'sequence' | 'hostname' | 'expiresAt'>
/** JSON of an entry of which only the reservation is left. */
export const RESERVATION_ONLY = '{}'

/** The JSON of an entry. */
export function describeLease(lease: Described | Lease, clock: EngineClock): string {
  const { id, machine = '', identity, metadata, clientIp, reportedIp } = lease
  const { ports, portHost, preferences } = lease
  return JSON.stringify({
    id,
    machine,
    identity,
    metadata,
    firstSeen: clock.toEngine(lease.firstSeenAt),
    lastSeen: clock.toEngine(lease.lastSeenAt),
    clientIp,
    reportedIp,
    ports,
    portHost,
    preferences,
  } satisfies z.input<typeof schema>)
}

/** @returns undefined for what is no entry of a lease */
export function parseLeaseEntry(entry: string, clock: EngineClock): LeaseEntry | undefined {
  const [, fence, expires, ended, name = '', json = ''] = ENTRY.exec(entry) ?? []
  if (fence === undefined) return undefined
  const head = {
    sequence: Number(fence),
    expiresAt: clock.toRelay(Number(expires)),
    hostname: name === NO_HOSTNAME ? '' : name,
  }
  return { ...head, isEnded: ended === '1', lease: parseLease(json, head, clock) }
}

function parseLease(
  json: string,
  head: Pick<SharedLease, 'sequence' | 'expiresAt' | 'hostname'>,
  clock: EngineClock,
): SharedLease | undefined {
  if (json === RESERVATION_ONLY) return undefined
  try {
    const { firstSeen, lastSeen, reportedIp, ports, portHost, ...rest } = schema.parse(JSON.parse(json))
    const [firstSeenAt, lastSeenAt] = [clock.toRelay(firstSeen), clock.toRelay(lastSeen)]
    return { ...rest, ...head, firstSeenAt, lastSeenAt, reportedIp, ports, portHost }
  } catch {
    return undefined
  }
}
