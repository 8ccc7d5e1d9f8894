// Formats what the engine has of a lease, its head and its JSON, and parses it. scripts.ts reads the first fields of the head.

import { z } from '../../config/schema.ts'
import type { Lease } from '../../lease/lease.ts'
import { NO_PREFERENCES } from '../../lease/lease-preferences.ts'
import type { SharedLease } from '../../lease/lease-sharing.ts'
import type { EngineClock } from '../engine/engine-clock.ts'

/** Stands for no friendly hostname, which no hostname is. */
export const NO_HOSTNAME = '-'
const HEAD = /^(\d{1,15}) (\d{1,15}) ([01]) (\S+)(?: (\d{1,15}) (\S+) (\S+))?$/
/** Stands for no reported address in a head. */
const NO_ADDRESS = '-'

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

export interface LeaseHead {
  sequence: number
  /** Relay time. */
  expiresAt: number
  /** Whether the site has given the lease up. */
  isEnded: boolean
  /** Empty when the lease has no friendly hostname. */
  hostname: string
  /** What the last renewal saw; undefined before the first one. */
  renewal: Pick<SharedLease, 'lastSeenAt' | 'clientIp' | 'reportedIp'> | undefined
}

type Described = Omit<SharedLease, 'sequence' | 'hostname' | 'expiresAt'>
/** JSON of a lease of which only the reservation is left. */
export const RESERVATION_ONLY = '{}'

/** The JSON of a lease. */
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

/** What the head of a renewed lease says beyond its first fields. */
export function describeRenewal({ lastSeenAt, clientIp, reportedIp }: Lease, clock: EngineClock): string {
  return ` ${Math.round(clock.toEngine(lastSeenAt))} ${clientIp} ${reportedIp ?? NO_ADDRESS}`
}

/** @returns undefined for what is no head */
export function parseLeaseHead(text: string, clock: EngineClock): LeaseHead | undefined {
  const [, fence, expires, ended, name = '', lastSeen, clientIp, reportedIp] = HEAD.exec(text) ?? []
  if (fence === undefined) return undefined
  return {
    sequence: Number(fence),
    expiresAt: clock.toRelay(Number(expires)),
    isEnded: ended === '1',
    hostname: name === NO_HOSTNAME ? '' : name,
    renewal:
      clientIp === undefined
        ? undefined
        : {
            lastSeenAt: clock.toRelay(Number(lastSeen)),
            clientIp,
            reportedIp: reportedIp === NO_ADDRESS ? undefined : reportedIp,
          },
  }
}

/** @returns undefined where only the reservation is left of the lease, or this version cannot read it */
export function parseLease(head: LeaseHead, json: string, clock: EngineClock): SharedLease | undefined {
  if (json === RESERVATION_ONLY) return undefined
  const { sequence, expiresAt, hostname, renewal } = head
  try {
    const { firstSeen, lastSeen, reportedIp, ports, portHost, ...rest } = schema.parse(JSON.parse(json))
    const [firstSeenAt, lastSeenAt] = [clock.toRelay(firstSeen), clock.toRelay(lastSeen)]
    const described = { ...rest, sequence, expiresAt, hostname, firstSeenAt, lastSeenAt, reportedIp }
    return { ...described, ports, portHost, ...renewal }
  } catch {
    return undefined
  }
}
