// Writes entries of leases into the engine, and keeps those that it did not take until it answers again.

import type { Lease } from '../../lease/lease.ts'
import type { Reservation } from '../../lease/reservations.ts'
import { NAME_RESERVATION_MS } from '../../limits.ts'
import { type Engine, EngineError } from '../engine/engine.ts'
import type { EngineClock } from '../engine/engine-clock.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { PUT } from '../engine/scripts.ts'
import { CHANGES_KEPT, NAME_INDEX_MS, UNSENT_CHANGES_MAX } from '../limits.ts'
import { describeLease, describeRenewal, NO_HOSTNAME, RESERVATION_ONLY } from './lease-entry.ts'

interface LeaseWriterParts {
  run: string
  engine: Engine
  keys: EngineKeys
  clock: EngineClock
  /** Tells all other machines directly, while the engine cannot. */
  tellDirectly: (key: string, head: string, json: string) => void
  /** Tells those directly that do not hear of changes from the engine. */
  tellBehind: (key: string, head: string, json: string) => void
}

/**
 * What became of an entry.
 * - `put`: the engine has it; `change` is empty where nothing had to be told
 * - `gone`: the engine has a newer one, or another identity has the name
 * - `unsent`: the engine does not answer, and gets it later
 */
export type PutOutcome =
  | { kind: 'put'; expiresAt: number; change: string }
  | { kind: 'gone' }
  | { kind: 'unsent' }

interface Fields {
  key: string
  sequence: number
  /** By the engine's clock. */
  expires: number
  isEnded: boolean
  hostname: string
  /** What the last renewal saw. */
  seen: string
  /** Made when it is needed: metadata may be large. */
  json: () => string
}

export class LeaseWriter {
  readonly #parts: LeaseWriterParts
  /** When this machine last renewed the way from a lease's name to it, in milliseconds of the monotonic clock. */
  readonly #indexedAt = new WeakMap<Lease, number>()
  /** The metadata of each lease that the engine has, as far as this machine knows. */
  readonly #written = new WeakMap<Lease, Lease['metadata']>()
  /** The last word on each lease that the engine has not heard, by identity key. */
  readonly #unsent = new Map<string, { lease: Lease; fields: Fields }>()

  constructor(parts: LeaseWriterParts) {
    this.#parts = parts
  }

  /** The engine has the lease with its present metadata. */
  isWritten(lease: Lease): void {
    this.#written.set(lease, lease.metadata)
  }

  /** Never rejects. @param endedAt when the site gave the lease up, relay time; undefined while it has not */
  async put(lease: Lease, endedAt?: number): Promise<PutOutcome> {
    const fields = this.#fieldsOf(lease, endedAt)
    try {
      const outcome = await this.#write(fields, this.#isIndexDue(lease), !this.#isKnown(lease))
      this.isWritten(lease)
      this.#unsent.delete(lease.identityKey)
      return outcome
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      this.#keep(lease, fields)
      return { kind: 'unsent' }
    }
  }

  /** @throws EngineError */
  async putReservation(key: string, { hostname, expiresAt }: Reservation): Promise<void> {
    const expires = this.#parts.clock.toEngine(expiresAt)
    const name = hostname === '' ? NO_HOSTNAME : hostname
    await this.#write(
      { key, sequence: 0, expires, isEnded: true, hostname: name, seen: '', json: () => RESERVATION_ONLY },
      true,
      true,
    )
  }

  /** @param overtaken called with each lease that was over meanwhile @throws EngineError */
  async flush(overtaken: (lease: Lease) => Promise<void>): Promise<void> {
    for (const [key, unsent] of this.#unsent) {
      const outcome = await this.#write(unsent.fields, true, true)
      if (this.#unsent.get(key) === unsent) this.#unsent.delete(key)
      if (outcome.kind === 'gone' && !unsent.fields.isEnded) await overtaken(unsent.lease)
    }
  }

  /** Tells machines of a lease that do not hear of it from the engine. @param endedAt as that of {@link put} */
  tellBehind(lease: Lease, endedAt?: number): void {
    const fields = this.#fieldsOf(lease, endedAt)
    this.#parts.tellBehind(fields.key, headOf(fields), fields.json())
  }

  #fieldsOf(lease: Lease, endedAt: number | undefined): Fields {
    const { clock } = this.#parts
    const isEnded = endedAt !== undefined
    return {
      key: lease.identityKey,
      sequence: lease.sequence,
      expires: clock.toEngine(isEnded ? Math.min(lease.expiresAt, endedAt) : lease.expiresAt),
      isEnded,
      hostname: lease.hostname === '' ? NO_HOSTNAME : lease.hostname,
      seen: describeRenewal(lease, clock),
      json: () => describeLease(lease, clock),
    }
  }

  #keep(lease: Lease, fields: Fields): void {
    this.#unsent.delete(fields.key)
    this.#unsent.set(fields.key, { lease, fields })
    if (this.#unsent.size > UNSENT_CHANGES_MAX) this.#unsent.delete(this.#unsent.keys().next().value!)
    this.#parts.tellDirectly(fields.key, headOf(fields), fields.json())
  }

  async #write(fields: Fields, isIndexDue: boolean, hasJson: boolean): Promise<PutOutcome> {
    const { engine, keys, clock, run } = this.#parts
    const { key, sequence, expires, isEnded, hostname, seen, json } = fields
    const reply = (await engine.run(
      PUT,
      [keys.lease(key), keys.name(hostname), keys.changes, keys.fence, keys.leaseIndex],
      [
        key,
        keys.leases,
        sequence,
        Math.round(expires),
        isEnded ? 1 : 0,
        hostname,
        NAME_RESERVATION_MS,
        NAME_INDEX_MS,
        isIndexDue ? 1 : 0,
        CHANGES_KEPT,
        run,
        hasJson ? json() : '',
        seen,
      ],
    )) as [string, number?, string?]
    const [outcome, end, change = ''] = reply
    if (outcome === 'json') return await this.#write(fields, isIndexDue, true)
    if (outcome === 'gone') return { kind: 'gone' }
    return { kind: 'put', expiresAt: clock.toRelay(Number(end)), change }
  }

  /** Whether the engine has the metadata of the lease. SDKs send theirs with each renewal. */
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

function headOf({ sequence, expires, isEnded, hostname, seen }: Fields): string {
  return `${sequence} ${Math.round(expires)} ${isEnded ? 1 : 0} ${hostname}${seen}`
}
