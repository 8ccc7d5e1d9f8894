// Writes entries of leases into the engine, and keeps those that it did not take until it answers again.

import { now } from '../../clock.ts'
import type { Lease } from '../../lease/lease.ts'
import type { Reservation } from '../../lease/reservations.ts'
import { NAME_RESERVATION_MS } from '../../limits.ts'
import { type Engine, EngineError } from '../engine/engine.ts'
import type { EngineClock } from '../engine/engine-clock.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { PUT } from '../engine/scripts.ts'
import { CHANGES_KEPT, NAME_INDEX_MS, UNSENT_CHANGES_MAX } from '../limits.ts'
import { describeLease, NO_HOSTNAME, RESERVATION_ONLY } from './lease-entry.ts'

interface LeaseWriterParts {
  run: string
  engine: Engine
  keys: EngineKeys
  clock: EngineClock
  tellDirectly: (key: string, entry: string) => void
}

/**
 * What became of an entry.
 * - `put`: the engine has it; `change` is empty where nothing had to be told
 * - `gone`: the engine has a newer one, or another identity has the name
 * - `unsent`: the engine does not answer, and gets it later
 */
export type PutOutcome =
  | { kind: 'put'; expiresAt: number; change: string }
  | { kind: 'gone'; entry: string }
  | { kind: 'unsent' }

interface Fields {
  key: string
  sequence: number
  /** By the engine's clock. */
  expires: number
  isEnded: boolean
  hostname: string
  json: string
}

export class LeaseWriter {
  readonly #parts: LeaseWriterParts
  /** When this machine last renewed the way from a lease's name to it, in milliseconds of the monotonic clock. */
  readonly #indexedAt = new WeakMap<Lease, number>()
  /** The last word on each lease that the engine has not heard, by identity key. */
  readonly #unsent = new Map<string, { lease: Lease; fields: Fields }>()

  constructor(parts: LeaseWriterParts) {
    this.#parts = parts
  }

  /** Never rejects. */
  async put(lease: Lease, { isEnded = false }: { isEnded?: boolean } = {}): Promise<PutOutcome> {
    const { clock } = this.#parts
    const fields: Fields = {
      key: lease.identityKey,
      sequence: lease.sequence,
      expires: clock.toEngine(isEnded ? Math.min(lease.expiresAt, now()) : lease.expiresAt),
      isEnded,
      hostname: lease.hostname === '' ? NO_HOSTNAME : lease.hostname,
      json: describeLease(lease, clock),
    }
    try {
      const outcome = await this.#write(fields, this.#isIndexDue(lease))
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
      { key, sequence: 0, expires, isEnded: true, hostname: name, json: RESERVATION_ONLY },
      true,
    )
  }

  /** @param overtaken called with each lease that was over meanwhile @throws EngineError */
  async flush(overtaken: (lease: Lease, entry: string) => void): Promise<void> {
    for (const [key, unsent] of this.#unsent) {
      const outcome = await this.#write(unsent.fields, true)
      if (this.#unsent.get(key) === unsent) this.#unsent.delete(key)
      if (outcome.kind === 'gone' && !unsent.fields.isEnded) overtaken(unsent.lease, outcome.entry)
    }
  }

  #keep(lease: Lease, fields: Fields): void {
    this.#unsent.delete(fields.key)
    this.#unsent.set(fields.key, { lease, fields })
    if (this.#unsent.size > UNSENT_CHANGES_MAX) this.#unsent.delete(this.#unsent.keys().next().value!)
    const { key, sequence, expires, isEnded, hostname, json } = fields
    this.#parts.tellDirectly(key, `${sequence} ${expires} ${isEnded ? 1 : 0} ${hostname} ${json}`)
  }

  async #write(fields: Fields, isIndexDue: boolean): Promise<PutOutcome> {
    const { engine, keys, clock, run } = this.#parts
    const { key, sequence, expires, isEnded, hostname, json } = fields
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
        json,
      ],
    )) as [string, number | string, string?]
    const [outcome, value, change = ''] = reply
    if (outcome === 'gone') return { kind: 'gone', entry: `${value}` }
    return { kind: 'put', expiresAt: clock.toRelay(Number(value)), change }
  }

  #isIndexDue(lease: Lease): boolean {
    const last = this.#indexedAt.get(lease)
    const time = performance.now()
    if (last !== undefined && time - last < NAME_INDEX_MS / 2) return false
    this.#indexedAt.set(lease, time)
    return true
  }
}
