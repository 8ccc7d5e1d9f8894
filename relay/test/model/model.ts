// The control plane as a page of rules: what the specification's tables of states say, without how a relay does it.

import type { ErrorCode, LeasePolicyUpdate } from '@svc/protocol'

export interface Who {
  name: string
  /** The address in lower case. */
  address: string
}

export interface ModelLease extends Who {
  /** Counts registrations: another lease instance has another number. */
  instance: number
  isFriendly: boolean
  firstSeenAt: number
  lastSeenAt: number
  expiresAt: number
  clientIp: string
}

/** A token or capability that was ever given out. */
export interface ModelToken {
  key: string
  instance: number
  /** Seconds since the epoch. */
  expiresAt: number
}

const TTL_DEFAULT_S = 120
const TTL_MAX_S = 600
/** Milliseconds for which a name whose lease is over waits for its identity. */
const NAME_RESERVATION_MS = 600_000

export class Model {
  now: number
  mode: 'auto' | 'manual' = 'auto'
  readonly leases = new Map<string, ModelLease>()
  readonly approved = new Set<string>()
  readonly denied = new Set<string>()
  readonly banned = new Set<string>()
  readonly bannedIps = new Set<string>()
  readonly bps = new Map<string, number>()
  /** The identity that had each name last, and the time until which no other identity gets it. */
  readonly #kept = new Map<string, { key: string; until: number }>()
  #instances = 0

  constructor(now: number) {
    this.now = now
  }

  static keyOf({ name, address }: Who): string {
    return `${name}:${address}`
  }

  /** @returns the code that refuses it, or the lease */
  register(who: Who, ttl: number | undefined, mayFallBack: boolean, ip: string): ErrorCode | ModelLease {
    if (this.bannedIps.has(ip)) return 'ip_banned'
    const ttlS = this.#ttl(ttl)
    if (ttlS === undefined) return 'invalid_request'
    const key = Model.keyOf(who)
    const previous = this.leases.get(key)
    const owner = [...this.leases.values()].find((lease) => lease.isFriendly && lease.name === who.name)
    const kept = this.#kept.get(who.name)
    const isKept = kept !== undefined && kept.key !== key && kept.until > this.now
    const isFriendly = !isKept && (owner === undefined || owner === previous)
    if (!isFriendly && !mayFallBack) return 'hostname_conflict'
    const lease = {
      ...who,
      instance: ++this.#instances,
      isFriendly,
      firstSeenAt: previous?.firstSeenAt ?? this.now,
      lastSeenAt: this.now,
      expiresAt: this.now + ttlS * 1000,
      clientIp: ip,
    }
    this.leases.set(key, lease)
    return lease
  }

  renew(token: ModelToken, ttl: number | undefined, ip: string): ErrorCode | ModelLease {
    const refused = this.refusalOf(token)
    if (refused !== undefined) return refused
    if (this.bannedIps.has(ip)) return 'ip_banned'
    const ttlS = this.#ttl(ttl)
    if (ttlS === undefined) return 'invalid_request'
    const lease = this.leases.get(token.key)!
    lease.lastSeenAt = this.now
    lease.expiresAt = this.now + ttlS * 1000
    lease.clientIp = ip
    return lease
  }

  unregister(token: ModelToken): ErrorCode | undefined {
    const refused = this.refusalOf(token)
    if (refused === undefined) this.#end(token.key, this.now)
    return refused
  }

  /** @returns the reason for which a token is not accepted now; undefined when it is */
  refusalOf({ key, instance, expiresAt }: ModelToken): ErrorCode | undefined {
    if (expiresAt <= this.now / 1000) return 'unauthorized'
    return this.leases.get(key)?.instance === instance ? undefined : 'lease_not_found'
  }

  advance(ms: number): void {
    this.now += ms
    for (const [key, { expiresAt }] of this.leases) if (expiresAt <= this.now) this.#end(key, expiresAt)
  }

  decide({ identity_key: key, is_banned, is_approved, is_denied, bps }: LeasePolicyUpdate): void {
    if (is_banned !== undefined) put(this.banned, key, is_banned)
    if (is_denied !== undefined) put(this.denied, key, is_denied)
    const approval = is_denied === true ? false : is_approved
    if (approval !== undefined) put(this.approved, key, approval)
    if (bps === 0) this.bps.delete(key)
    else if (bps !== undefined) this.bps.set(key, bps)
  }

  isApproved(key: string): boolean {
    return !this.denied.has(key) && (this.mode === 'auto' || this.approved.has(key))
  }

  routes(lease: ModelLease): boolean {
    const key = Model.keyOf(lease)
    return this.isApproved(key) && !this.banned.has(key) && !this.bannedIps.has(lease.clientIp)
  }

  #end(key: string, at: number): void {
    const { name, isFriendly } = this.leases.get(key)!
    this.leases.delete(key)
    if (isFriendly) this.#kept.set(name, { key, until: at + NAME_RESERVATION_MS })
  }

  #ttl(ttl: number | undefined): number | undefined {
    if (ttl === undefined || ttl <= 0) return TTL_DEFAULT_S
    return ttl > TTL_MAX_S ? undefined : ttl
  }
}

export function put(set: Set<string>, member: string, isIn: boolean): void {
  if (isIn) set.add(member)
  else set.delete(member)
}
