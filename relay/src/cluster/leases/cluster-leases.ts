// The leases of a relay on several machines: each change goes to the engine first, and from there to everybody.

import { identityKey } from '@svc/protocol'
import { now } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import { type Lease, newLeaseId } from '../../lease/lease.ts'
import type { LeasePorts } from '../../lease/lease-ports.ts'
import { NO_PREFERENCES } from '../../lease/lease-preferences.ts'
import type { LeaseAddresses, LeaseRegistry, LeaseRequest } from '../../lease/lease-registry.ts'
import type { LeaseGrant, LeaseSharing } from '../../lease/lease-sharing.ts'
import type { Reservations } from '../../lease/reservations.ts'
import { NAME_RESERVATION_MS } from '../../limits.ts'
import { type Engine, EngineError, engineIsDown } from '../engine/engine.ts'
import type { EngineClock } from '../engine/engine-clock.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { REGISTER, SWEEP_INDEX } from '../engine/scripts.ts'
import { CHANGES_KEPT, LEASES_PER_READ, NAME_INDEX_MS } from '../limits.ts'
import { describeLease, type LeaseEntry, NO_HOSTNAME, parseLeaseEntry } from './lease-entry.ts'
import { LeaseWriter } from './lease-writer.ts'

interface ClusterLeasesParts {
  machine: string
  /** Names this start of the machine. */
  run: string
  engine: Engine
  keys: EngineKeys
  clock: EngineClock
  leases: LeaseRegistry
  reservations: Reservations
  portHost: string | undefined
  /** The hostname of a label on this relay. */
  hostname: (label: string) => string
  /** Epoch of the engine that this machine is in step with; undefined while it is in step with none. */
  epoch: () => string | undefined
  /** Tells the other machines directly, while the engine cannot. */
  tellDirectly: (key: string, entry: string) => void
  /** Resolves when the reachable machines know all changes up to this one. */
  settled: (change: string) => Promise<void>
}

export class ClusterLeases implements LeaseSharing {
  readonly machine: string
  readonly #parts: ClusterLeasesParts
  readonly #writer: LeaseWriter
  /** Id of the last change that this machine made. */
  #lastChange = ''

  constructor(parts: ClusterLeasesParts) {
    this.#parts = parts
    this.machine = parts.machine
    this.#writer = new LeaseWriter(parts)
  }

  async register(
    request: LeaseRequest,
    given: { hostname: string; firstSeenAt: number; ports: LeasePorts | undefined } & LeaseAddresses,
  ): Promise<LeaseGrant> {
    const { engine, keys, clock, run, machine, portHost, epoch, hostname } = this.#parts
    const id = newLeaseId()
    const { name, address } = request.identity
    const key = identityKey(name, address)
    const { metadata, preferences = NO_PREFERENCES } = request
    const described = { ...request, ...given, id, machine, portHost, metadata, preferences }
    const json = describeLease({ ...described, lastSeenAt: now() }, clock)
    const known = epoch()
    if (known === undefined) throw engineIsDown()
    // The engine knows better than this machine who has the name.
    const wanted = given.hostname === '' ? NO_HOSTNAME : hostname(name)
    const reply = (await engine
      .run(
        REGISTER,
        [keys.epoch, keys.fence, keys.lease(key), keys.name(wanted), keys.changes, keys.leaseIndex],
        [
          known,
          key,
          keys.leases,
          wanted,
          request.allowCanonicalFallback ? 1 : 0,
          request.ttlS * 1000,
          NAME_RESERVATION_MS,
          NAME_INDEX_MS,
          CHANGES_KEPT,
          run,
          json,
        ],
      )
      .catch((error) => {
        throw error instanceof EngineError ? engineIsDown() : error
      })) as [string, number, number, string, number, string]
    const [outcome, sequence, expires, granted, , change] = reply
    if (outcome === 'conflict')
      throw new RelayError('hostname_conflict', `${wanted} belongs to another identity`)
    if (outcome !== 'registered') throw engineIsDown()
    this.#lastChange = change
    return {
      id,
      sequence,
      hostname: granted === NO_HOSTNAME ? '' : granted,
      expiresAt: clock.toRelay(expires),
      machine,
    }
  }

  async renewed(lease: Lease): Promise<void> {
    const outcome = await this.#writer.put(lease)
    if (outcome.kind === 'put') lease.expiresAt = Math.max(lease.expiresAt, outcome.expiresAt)
    if (outcome.kind !== 'gone') return
    this.#overtaken(lease, outcome.entry)
    throw new RelayError('lease_not_found', 'the lease has ended')
  }

  async ended(lease: Lease): Promise<void> {
    const outcome = await this.#writer.put(lease, { isEnded: true })
    if (outcome.kind === 'put') this.#lastChange = outcome.change
  }

  async settled(): Promise<void> {
    if (this.#lastChange !== '') await this.#parts.settled(this.#lastChange)
  }

  /** Follows an entry of a lease, which another machine wrote. */
  follow(key: string, text: string): void {
    const { leases, reservations, clock } = this.#parts
    const entry = parseLeaseEntry(text, clock)
    if (entry === undefined) return
    const { lease, isEnded, hostname, expiresAt } = entry
    if (lease !== undefined && !isEnded && expiresAt > now()) {
      leases.follow(lease)
      return
    }
    const known = leases.ofIdentity(key)
    if (known !== undefined && known.sequence > entry.sequence) return
    if (known !== undefined && isEnded) leases.end(known, 'unregistered')
    else if (known === undefined) reservations.restore(key, { hostname, expiresAt })
  }

  /** Reads all entries of the engine. @returns the fencing token and the end of each @throws EngineError */
  async load(): Promise<Map<string, Pick<LeaseEntry, 'sequence' | 'expiresAt'>>> {
    const { engine, keys, clock } = this.#parts
    const found = new Map<string, Pick<LeaseEntry, 'sequence' | 'expiresAt'>>()
    for (let at = 0; ; at += LEASES_PER_READ) {
      const members = (await engine.command(
        'ZRANGE',
        keys.leaseIndex,
        at,
        at + LEASES_PER_READ - 1,
      )) as string[]
      if (members.length === 0) return found
      const entries = (await engine.command('MGET', ...members.map((key) => keys.lease(key)))) as (
        | string
        | null
      )[]
      for (const [index, text] of entries.entries()) {
        const key = members[index]
        const entry = text === null ? undefined : parseLeaseEntry(text, clock)
        if (key === undefined || text === null || entry === undefined) continue
        found.set(key, entry)
        this.follow(key, text)
      }
    }
  }

  /**
   * Puts into the engine what it does not know, or knows an older state of, and takes what it knows better.
   * @param found what it has
   * @throws EngineError
   */
  async fill(found: ReadonlyMap<string, Pick<LeaseEntry, 'sequence' | 'expiresAt'>>): Promise<void> {
    const { leases, reservations } = this.#parts
    const missing = [...leases].filter((lease) => {
      const known = found.get(lease.identityKey)
      if (known === undefined) return true
      return known.sequence < lease.sequence || known.expiresAt < lease.expiresAt
    })
    for (let at = 0; at < missing.length; at += LEASES_PER_READ)
      await Promise.all(missing.slice(at, at + LEASES_PER_READ).map((lease) => this.#fillOne(lease)))
    const kept = [...reservations].filter(
      ([key, { expiresAt }]) =>
        leases.ofIdentity(key) === undefined && !found.has(key) && expiresAt + NAME_RESERVATION_MS > now(),
    )
    for (let at = 0; at < kept.length; at += LEASES_PER_READ)
      await Promise.all(
        kept
          .slice(at, at + LEASES_PER_READ)
          .map((reservation) => this.#writer.putReservation(...reservation)),
      )
  }

  /** Sends what could not be sent before. @throws EngineError */
  async flush(): Promise<void> {
    await this.#writer.flush((lease, entry) => this.#overtaken(lease, entry))
  }

  /** Takes leases that are over off the index. @throws EngineError */
  async sweep(): Promise<void> {
    const { engine, keys } = this.#parts
    await engine.run(SWEEP_INDEX, [keys.leaseIndex], [keys.leases, LEASES_PER_READ])
  }

  async #fillOne(lease: Lease): Promise<void> {
    const outcome = await this.#writer.put(lease)
    if (outcome.kind === 'gone') this.#overtaken(lease, outcome.entry)
    if (outcome.kind === 'unsent') throw new EngineError('the engine does not answer')
  }

  /** The identity has a newer lease, or another one has its name. @param entry of the newer lease; empty when there is none */
  #overtaken(lease: Lease, entry: string): void {
    this.follow(lease.identityKey, entry)
    this.#parts.leases.end(lease, 'unregistered')
  }
}
