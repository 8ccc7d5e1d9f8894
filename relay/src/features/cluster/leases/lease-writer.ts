// Writes entries of leases to Redis, and keeps those that it could not take until it answers again.

import { addressIn } from '../../../core/client-address/ip-address.ts'
import { type Lease, NO_DOMAINS } from '../../../core/lease/lease.ts'
import { NAME_RESERVATION_MS, type Reservation } from '../../../core/lease/reservations.ts'
import { CHANGES_KEPT, NAME_INDEX_MS, REDIS_ATTEMPTS_MAX, UNSENT_CHANGES_MAX } from '../limits.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { type RedisClient, RedisError } from '../redis/redis-client.ts'
import type { RedisClock } from '../redis/redis-clock.ts'
import { DROP_FORGED_LEASE, PUT } from '../redis/scripts.ts'
import { type LeaseEntries, type LeaseHead, NONE } from './lease-entry.ts'

interface LeaseWriterParts {
  run: string
  redis: RedisClient
  keys: RedisKeys
  clock: RedisClock
  entries: LeaseEntries
  /** Whether this machine knows that a head is outdated. */
  isPast: (head: LeaseHead) => boolean
  /** Sends a lease to all other machines directly, while Redis is down. */
  broadcast: (identityName: string, head: string, json: string) => void
  /** Sends a lease directly to the machines that do not receive changes from Redis. */
  sendToLagging: (identityName: string, head: string, json: string) => void
}

/**
 * The outcome of a write.
 * - `put`: Redis has it; `change` is empty when there was nothing to announce
 * - `gone`: Redis has a newer one, or another identity has the name
 * - `unsent`: Redis does not answer, and receives it later
 */
export type PutOutcome =
  | { kind: 'put'; expiresAt: number; change: string }
  | { kind: 'gone' }
  | { kind: 'unsent' }

interface Fields extends Omit<LeaseHead, 'expiresAt'> {
  /** Made only when needed: metadata may be large. Empty when only the reservation is left. */
  json: () => string
}

export class LeaseWriter {
  readonly #parts: LeaseWriterParts
  /**
   * When this machine last renewed the entry that maps a lease's hostname to it, in milliseconds of the monotonic
   * clock.
   */
  readonly #indexedAt = new WeakMap<Lease, number>()
  /** The metadata of each lease that Redis has, as far as this machine knows. */
  readonly #written = new WeakMap<Lease, Lease['metadata']>()
  /** The latest state of each lease that Redis has not received, by identity key. */
  readonly #unsent = new Map<string, { lease: Lease; fields: Fields }>()

  constructor(parts: LeaseWriterParts) {
    this.#parts = parts
  }

  /** Records that Redis has the lease with its present metadata. */
  isWritten(lease: Lease): void {
    this.#written.set(lease, lease.metadata)
  }

  /** Never rejects. @param endedAt relay time at which the site unregistered; undefined while it has not */
  async put(lease: Lease, endedAt?: number): Promise<PutOutcome> {
    const fields = this.#fieldsOf(lease, endedAt)
    try {
      const outcome = await this.#write(fields, this.#isIndexDue(lease), !this.#isKnown(lease))
      this.isWritten(lease)
      this.#unsent.delete(lease.identityKey)
      return outcome
    } catch (error) {
      if (!(error instanceof RedisError)) throw error
      this.#keep(lease, fields)
      return { kind: 'unsent' }
    }
  }

  /** @throws RedisError */
  async putReservation(
    key: string,
    { hostname, expiresAt, network = '', awayPage = false }: Reservation,
  ): Promise<void> {
    const { clock, entries } = this.#parts
    const hasFriendly = hostname !== ''
    // The relay's host has changed since, so the identity no longer has this name.
    if (hasFriendly && hostname !== entries.friendlyHostname(key)) return
    const expires = clock.toRedis(expiresAt)
    const clientIp = network && addressIn(network)
    const seen = { lastSeenAt: expiresAt, clientIp, reportedIp: undefined }
    const fields = { key, sequence: 0, expires, isEnded: true, hasFriendly, tag: NONE, awayPage, seen }
    await this.#write({ ...fields, json: () => NONE }, true, true)
  }

  /** @param overtaken called with each lease that has ended in the meantime @throws RedisError */
  async flush(overtaken: (lease: Lease) => Promise<void>): Promise<void> {
    for (const [key, unsent] of this.#unsent) {
      const outcome = await this.#write(unsent.fields, true, true)
      if (this.#unsent.get(key) === unsent) this.#unsent.delete(key)
      if (outcome.kind === 'gone' && !unsent.fields.isEnded) await overtaken(unsent.lease)
    }
  }

  /** Sends a lease to the machines that do not receive it from Redis. @param endedAt as that of {@link put} */
  sendToLagging(lease: Lease, endedAt?: number): void {
    this.#send(this.#parts.sendToLagging, this.#fieldsOf(lease, endedAt))
  }

  /** The head that says that a lease is over. */
  endOf(lease: Lease, endedAt: number): [identityName: string, head: string] {
    const { keys, entries } = this.#parts
    return [keys.identityName(lease.identityKey), entries.formatHead(this.#fieldsOf(lease, endedAt))]
  }

  /** Removes a head that no machine wrote, or that is outdated. @throws RedisError */
  async drop(identityName: string, head: string): Promise<void> {
    const { redis, keys } = this.#parts
    await redis.run(DROP_FORGED_LEASE, { lease: keys.lease(identityName) }, { head })
  }

  #fieldsOf(lease: Lease, endedAt: number | undefined): Fields {
    const { clock, entries } = this.#parts
    const { identityKey: key, sequence, metadata, lastSeenAt, clientIp, reportedIp, statement } = lease
    const domains = lease.domains === NO_DOMAINS ? undefined : lease.domains
    const isEnded = endedAt !== undefined
    return {
      key,
      sequence,
      expires: clock.toRedis(isEnded ? Math.min(lease.expiresAt, endedAt) : lease.expiresAt),
      isEnded,
      hasFriendly: lease.hostname !== '',
      tag: entries.tagOf(sequence, metadata),
      awayPage: lease.preferences.awayPage,
      seen: { lastSeenAt, clientIp, reportedIp, statement, domains },
      json: () => entries.formatJson(lease, sequence),
    }
  }

  #keep(lease: Lease, fields: Fields): void {
    this.#unsent.delete(fields.key)
    this.#unsent.set(fields.key, { lease, fields })
    if (this.#unsent.size > UNSENT_CHANGES_MAX) this.#unsent.delete(this.#unsent.keys().next().value!)
    this.#send(this.#parts.broadcast, fields)
  }

  #send(send: LeaseWriterParts['broadcast'], fields: Fields): void {
    const { keys, entries } = this.#parts
    send(keys.identityName(fields.key), entries.formatHead(fields), fields.json())
  }

  async #write(given: Fields, isIndexDue: boolean, hasJson: boolean): Promise<PutOutcome> {
    const { clock, entries, isPast } = this.#parts
    let fields = given
    for (let attempt = 0; attempt < REDIS_ATTEMPTS_MAX; attempt++) {
      const { outcome, first, head } = await this.#tryWrite(fields, isIndexDue, hasJson)
      if (outcome === 'put') return { kind: 'put', expiresAt: clock.toRelay(fields.expires), change: first }
      if (outcome === 'json') {
        hasJson = true
        continue
      }
      const known = entries.parseHead(first, head)
      // Of two leases that had a hostname one after the other, the later one has the larger fencing token.
      const isOld = known !== undefined && (isPast(known) || known.sequence < fields.sequence)
      if (known === undefined || isOld) await this.drop(first, head)
      else if (outcome === 'gone') return { kind: 'gone' }
      else fields = { ...fields, expires: known.expires }
    }
    throw new RedisError('Redis does not take a lease, which somebody else changes')
  }

  async #tryWrite(
    fields: Fields,
    isIndexDue: boolean,
    hasJson: boolean,
  ): Promise<{ outcome: string; first: string; head: string }> {
    const { redis, keys, entries, run } = this.#parts
    const { key, sequence, expires, isEnded, hasFriendly, tag, json } = fields
    const [name, hostname] = [keys.identityName(key), entries.hostnameName(key, hasFriendly)]
    const [outcome, first = '', head = ''] = (await redis.run(
      PUT,
      {
        lease: keys.lease(name),
        holder: keys.holder(hostname),
        changes: keys.changes,
        fence: keys.fence,
        index: keys.leaseIndex,
      },
      {
        identity: name,
        leases: keys.leases,
        fence: sequence,
        expires: Math.round(expires),
        isEnd: isEnded ? 1 : 0,
        hostname,
        keptMs: NAME_RESERVATION_MS,
        indexMs: NAME_INDEX_MS,
        isIndexDue: isIndexDue ? 1 : 0,
        changesKept: CHANGES_KEPT,
        machine: run,
        head: entries.formatHead(fields),
        tag,
        json: hasJson ? json() : '',
      },
    )) as [string, string?, string?]
    return { outcome, first, head }
  }

  /** Whether Redis has the metadata of the lease. SDKs send theirs with each renewal. */
  #isKnown(lease: Lease): boolean {
    const written = this.#written.get(lease)
    if (written === undefined) return false
    return written === lease.metadata || JSON.stringify(written) === JSON.stringify(lease.metadata)
  }

  #isIndexDue(lease: Lease): boolean {
    const last = this.#indexedAt.get(lease)
    const time = performance.now()
    if (last !== undefined && time - last < NAME_INDEX_MS / 2) return false
    this.#indexedAt.set(lease, time)
    return true
  }
}
