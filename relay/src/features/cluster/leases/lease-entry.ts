// Formats and parses what Redis has of a lease: its head and its JSON, both sealed. scripts.ts reads the first fields
// of the head.

import { identityKey } from '@svc/protocol'
import { z } from '../../../core/config/schema.ts'
import type { Lease, LeaseDomains } from '../../../core/lease/lease.ts'
import { NO_PREFERENCES } from '../../../core/lease/lease-preferences.ts'
import type { SharedLease } from '../../../core/lease/lease-sharing.ts'
import type { RedisKeys } from '../redis/keys.ts'
import type { RedisClock } from '../redis/redis-clock.ts'
import type { Seal } from '../shared/seal.ts'

/** Written in place of a friendly hostname or JSON that is absent. */
export const NONE = '-'
const HEAD = /^((\d{1,15}) (\d{1,15}) ([01]) (\S+) (\S+)) (\S+)$/
const JSON_ENTRY = /^(\S+) (\S+)$/

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
  ports: z.object({ tcp: port, udp: port }).optional(),
  portHost: z.string().optional(),
  preferences: z
    .object({
      cache: z.boolean(),
      cacheTtlS: z.number(),
      overlay: z.boolean(),
      visitorAddress: z.boolean().default(false),
      awayPage: z.boolean().default(false),
      domains: z.array(z.string()).readonly().default([]),
    })
    .default(NO_PREFERENCES),
})
/** The sealed part of a head. */
const headSchema = z.object({
  key: z.string(),
  lastSeen: z.number(),
  clientIp: z.string(),
  reportedIp: z.string().optional(),
  statement: z.object({ issued_at: z.string(), expires_at: z.string(), signature: z.string() }).optional(),
  /** A machine that starts when the lease has ended knows only the head. */
  awayPage: z.boolean().optional(),
  /** Times by Redis's clock. */
  domains: z
    .object({
      changedAt: z.number(),
      proven: z.array(z.object({ domain: z.string(), provenAt: z.number() })).readonly(),
    })
    .optional(),
})

export interface LeaseHead {
  /** Identity key. */
  key: string
  sequence: number
  /** By Redis's clock. */
  expires: number
  /** Relay time. */
  expiresAt: number
  /** Whether the site has unregistered the lease. */
  isEnded: boolean
  /** Whether the lease has the friendly hostname of its identity. No entry contains a hostname. */
  hasFriendly: boolean
  /** Tag of the JSON that belongs to the head; {@link NONE} when only the reservation is left of the lease. */
  tag: string
  /** Whether the lease asked for a page while its site is away. */
  awayPage: boolean
  /** What the last renewal recorded. */
  seen: Pick<SharedLease, 'lastSeenAt' | 'clientIp' | 'reportedIp' | 'statement' | 'domains'>
}

type Described = Omit<SharedLease, 'sequence' | 'hostname' | 'expiresAt'>

interface LeaseEntryParts {
  seal: Seal
  keys: RedisKeys
  clock: RedisClock
  /** Returns the hostname of a label on this relay. */
  hostname: (label: string) => string
}

export class LeaseEntries {
  readonly #parts: LeaseEntryParts

  constructor(parts: LeaseEntryParts) {
    this.#parts = parts
  }

  /** The friendly hostname of an identity, from its name. */
  friendlyHostname(key: string): string {
    return this.#parts.hostname(key.slice(0, key.lastIndexOf(':')))
  }

  /** The name that stands for that hostname in the head of a lease. */
  hostnameName(key: string, hasFriendly: boolean): string {
    return hasFriendly ? this.#parts.keys.hostnameName(this.friendlyHostname(key)) : NONE
  }

  /** A hash by which to compare the JSON of a lease: the rest of it changes only with the fencing token. */
  tagOf(sequence: number, { description, owner, thumbnail, tags, hide }: Lease['metadata']): string {
    const metadata = [description, owner, thumbnail, tags, hide]
    return this.#parts.seal.nameOf('metadata', `${sequence} ${JSON.stringify(metadata)}`)
  }

  formatHead({
    key,
    sequence,
    expires,
    isEnded,
    hasFriendly,
    tag,
    awayPage,
    seen,
  }: Omit<LeaseHead, 'expiresAt'>): string {
    const { seal, keys, clock } = this.#parts
    const name = this.hostnameName(key, hasFriendly)
    const clear = `${sequence} ${Math.round(expires)} ${isEnded ? 1 : 0} ${name} ${tag}`
    const { lastSeenAt, clientIp, reportedIp, statement } = seen
    const domains = seen.domains && withTimes(seen.domains, (time) => Math.round(clock.toRedis(time)))
    const lastSeen = Math.round(clock.toRedis(lastSeenAt))
    const hidden = {
      key,
      lastSeen,
      clientIp,
      reportedIp,
      statement,
      awayPage: awayPage || undefined,
      domains,
    } satisfies z.input<typeof headSchema>
    return `${clear} ${seal.close('lease', keys.identityName(key), clear, JSON.stringify(hidden))}`
  }

  /**
   * @param identityName name under which the head is stored
   * @returns undefined when no machine wrote this head there
   */
  parseHead(identityName: string, text: string): LeaseHead | undefined {
    const { seal, clock } = this.#parts
    const [, clear, fence, expires, ended, name, tag = NONE, sealed] = HEAD.exec(text) ?? []
    if (clear === undefined || sealed === undefined) {
      seal.warn('lease', 'forged')
      return undefined
    }
    const hidden = parsed(headSchema, seal.open('lease', identityName, clear, sealed))
    if (hidden === undefined) return undefined
    const { key, lastSeen, clientIp, reportedIp, statement, awayPage = false } = hidden
    const domains = hidden.domains && withTimes(hidden.domains, (time) => clock.toRelay(time))
    return {
      key,
      sequence: Number(fence),
      expires: Number(expires),
      expiresAt: clock.toRelay(Number(expires)),
      isEnded: ended === '1',
      hasFriendly: name !== NONE,
      tag,
      awayPage,
      seen: { lastSeenAt: clock.toRelay(lastSeen), clientIp, reportedIp, statement, domains },
    }
  }

  /** The JSON of a lease. */
  formatJson(lease: Described | Lease, sequence: number): string {
    const { seal, keys, clock } = this.#parts
    const { id, machine = '', identity, metadata, ports, portHost, preferences } = lease
    const firstSeen = clock.toRedis(lease.firstSeenAt)
    const described = { id, machine, identity, metadata, firstSeen, ports, portHost, preferences }
    const tag = this.tagOf(sequence, metadata)
    const name = keys.identityName(identityKey(identity.name, identity.address))
    const text = JSON.stringify(described satisfies z.input<typeof schema>)
    return `${tag} ${seal.close('lease JSON', name, `${sequence} ${tag}`, text)}`
  }

  /**
   * @returns undefined when only the reservation is left, the JSON does not match the head, or this version cannot read
   *   it
   */
  parseJson(head: LeaseHead, json: string): SharedLease | undefined {
    const { seal, keys, clock } = this.#parts
    const { key, sequence, tag, expiresAt, hasFriendly, seen } = head
    const [, itsTag, sealed] = JSON_ENTRY.exec(json) ?? []
    if (tag === NONE || itsTag !== tag || sealed === undefined) return undefined
    const text = seal.open('lease JSON', keys.identityName(key), `${sequence} ${tag}`, sealed)
    const described = parsed(schema, text)
    if (described === undefined) return undefined
    const { firstSeen, ports, portHost, ...rest } = described
    const { name, address } = rest.identity
    if (identityKey(name, address) !== key) return undefined
    const hostname = hasFriendly ? this.#parts.hostname(name) : ''
    return {
      ...rest,
      ...seen,
      sequence,
      expiresAt,
      hostname,
      firstSeenAt: clock.toRelay(firstSeen),
      ports,
      portHost,
    }
  }
}

function withTimes({ changedAt, proven }: LeaseDomains, convert: (time: number) => number): LeaseDomains {
  return {
    changedAt: convert(changedAt),
    proven: proven.map(({ domain, provenAt }) => ({ domain, provenAt: convert(provenAt) })),
  }
}

function parsed<T>(schema: z.ZodType<T>, json: string | undefined): T | undefined {
  if (json === undefined) return undefined
  try {
    return schema.parse(JSON.parse(json))
  } catch {
    return undefined
  }
}
