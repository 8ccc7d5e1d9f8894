// The leases of a relay on several machines: each change goes to the engine first, and from there to everybody.

import { type Identity, identityKey } from '@svc/protocol'
import { now } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import { type Lease, newLeaseId } from '../../lease/lease.ts'
import type { LeasePorts } from '../../lease/lease-ports.ts'
import { NO_PREFERENCES } from '../../lease/lease-preferences.ts'
import type { LeaseAddresses, LeaseRegistry, LeaseRequest } from '../../lease/lease-registry.ts'
import type { LeaseGrant, LeaseSharing, SharedLease } from '../../lease/lease-sharing.ts'
import type { Reservations } from '../../lease/reservations.ts'
import { NAME_RESERVATION_MS } from '../../limits.ts'
import { type Change, type Engine, EngineError, engineIsDown } from '../engine/engine.ts'
import type { EngineClock } from '../engine/engine-clock.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { REGISTER, SWEEP_INDEX } from '../engine/scripts.ts'
import { CHANGES_KEPT, LEASES_PER_READ, NAME_INDEX_MS } from '../limits.ts'
import { EndedLeases } from './ended-leases.ts'
import { describeLease, type LeaseHead, NO_HOSTNAME, parseLease, parseLeaseHead } from './lease-entry.ts'
import { LeaseWriter } from './lease-writer.ts'

/** What the engine has of a lease, by identity key. */
type FoundLeases = ReadonlyMap<string, Pick<LeaseHead, 'sequence' | 'expiresAt' | 'isEnded'>>

/** Kind of a change whose head says everything. */
const RENEWAL = 'renewal'

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
  tellDirectly: (key: string, head: string, json: string) => void
  /** Tells those directly that do not hear of changes from the engine. */
  tellBehind: (key: string, head: string, json: string) => void
  /** Whether there are such machines. */
  hasBehind: () => boolean
  /** Resolves when the other reachable machines know all changes up to this one. */
  settled: (change: string) => Promise<void>
  /** Resolves when the reachable machines have heard what was told. */
  heard: () => Promise<void>
}

export class ClusterLeases implements LeaseSharing {
  readonly machine: string
  readonly #parts: ClusterLeasesParts
  readonly #writer: LeaseWriter
  readonly #over = new EndedLeases()
  /** Id of the last change that this machine made. */
  #lastChange = ''

  constructor(parts: ClusterLeasesParts) {
    this.#parts = parts
    this.machine = parts.machine
    this.#writer = new LeaseWriter(parts)
    parts.leases.onChange((lease) => {
      const { reason } = lease.ended
      if (reason === 'unregistered' || reason === 'replaced') this.#over.add(lease)
    })
  }

  /** Whether the lease is known to be over, also while this machine does not hear of the others' leases. */
  isOver({ name, address }: Identity, id: string): boolean {
    return this.#over.hasId(identityKey(name, address), id)
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
    if (outcome.kind === 'put') {
      lease.expiresAt = Math.max(lease.expiresAt, outcome.expiresAt)
      if (this.#parts.hasBehind()) this.#writer.tellBehind(lease)
    }
    if (outcome.kind !== 'gone') return
    await this.#overtaken(lease)
    throw new RelayError('lease_not_found', 'the lease has ended')
  }

  async ended(lease: Lease): Promise<void> {
    const outcome = await this.#writer.put(lease, now())
    if (outcome.kind === 'put') this.#lastChange = outcome.change
  }

  async settled(lease: Lease): Promise<void> {
    const { settled, hasBehind, heard } = this.#parts
    if (this.#lastChange !== '') await settled(this.#lastChange)
    if (!hasBehind()) return
    this.#writer.tellBehind(lease, lease.ended.aborted ? now() : undefined)
    await heard()
  }

  /**
   * Follows changes of leases that other machines made, in their order.
   * @throws EngineError when it cannot tell what is not in the changes
   */
  async followAll(changes: readonly Pick<Change, 'kind' | 'subject' | 'entry'>[]): Promise<void> {
    const { clock } = this.#parts
    const heads = changes.map(({ entry }) => parseLeaseHead(entry, clock))
    const unknown = changes.filter((change, index) => {
      const head = heads[index]
      return head !== undefined && !this.#isEnough(change, head)
    })
    const asked = [...new Set(unknown.map(({ subject }) => subject))]
    const found = new Map(await Promise.all(asked.map(async (key) => [key, await this.#read(key)] as const)))
    for (const [index, { subject, entry }] of changes.entries()) {
      const head = heads[index]
      const [latest, json] = found.get(subject) ?? []
      if (latest !== undefined && json !== undefined) this.follow(subject, latest, json)
      else if (head !== undefined) this.follow(subject, entry)
    }
  }

  /** Follows what another machine or the engine says of a lease. @param json unless the lease is known already */
  follow(key: string, headText: string, json?: string): void {
    const { leases, reservations, clock } = this.#parts
    const head = parseLeaseHead(headText, clock)
    if (head === undefined) return
    const { isEnded, hostname, expiresAt, sequence, renewal } = head
    const known = leases.ofIdentity(key)
    if (!isEnded && expiresAt > now()) {
      if (this.#over.has(key, sequence)) return
      const lease = json === undefined ? undefined : parseLease(head, json, clock)
      if (lease !== undefined) this.#followLease(key, lease)
      else if (known?.sequence === sequence && renewal !== undefined)
        leases.follow({ ...sharedOf(known), ...renewal, expiresAt })
      return
    }
    if (known !== undefined && known.sequence > sequence) return
    if (known !== undefined && isEnded) leases.end(known, 'unregistered')
    else if (known === undefined) reservations.restore(key, { hostname, expiresAt })
  }

  /** Reads all leases of the engine. @returns the fencing token and the end of each @throws EngineError */
  async load(): Promise<FoundLeases> {
    const { engine, keys, clock } = this.#parts
    const found = new Map<string, Pick<LeaseHead, 'sequence' | 'expiresAt' | 'isEnded'>>()
    let cursor = '0'
    do {
      // Other machines change the order of the index meanwhile, which a scan does not mind.
      const [next, pairs] = (await engine.command(
        'ZSCAN',
        keys.leaseIndex,
        cursor,
        'COUNT',
        LEASES_PER_READ,
      )) as [string, string[]]
      cursor = next
      const members = pairs.filter((_, at) => at % 2 === 0)
      const all = await Promise.all(members.map((key) => this.#read(key)))
      for (const [index, [headText, json]] of all.entries()) {
        const key = members[index]
        const head = headText === undefined ? undefined : parseLeaseHead(headText, clock)
        if (key === undefined || headText === undefined || head === undefined) continue
        const { sequence, expiresAt, isEnded } = head
        found.set(key, { sequence, expiresAt, isEnded })
        this.follow(key, headText, json)
      }
    } while (cursor !== '0')
    return found
  }

  /**
   * Puts into the engine what it does not know, or knows an older state of, and takes what it knows better.
   * @param found what it has
   * @throws EngineError
   */
  async fill(found: FoundLeases): Promise<void> {
    const { leases, reservations } = this.#parts
    const over = [...this.#over].filter(({ lease: { identityKey, sequence } }) => {
      const known = found.get(identityKey)
      return (
        known === undefined || known.sequence < sequence || (known.sequence === sequence && !known.isEnded)
      )
    })
    for (let at = 0; at < over.length; at += LEASES_PER_READ)
      await Promise.all(
        over.slice(at, at + LEASES_PER_READ).map(({ lease, endedAt }) => this.#fillOne(lease, endedAt)),
      )
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
    await this.#writer.flush((lease) => this.#overtaken(lease))
  }

  /** Takes leases that are over off the index. @throws EngineError */
  async sweep(): Promise<void> {
    const { engine, keys } = this.#parts
    await engine.run(SWEEP_INDEX, [keys.leaseIndex], [keys.leases, LEASES_PER_READ])
  }

  async #fillOne(lease: Lease, endedAt?: number): Promise<void> {
    const outcome = await this.#writer.put(lease, endedAt)
    if (outcome.kind === 'gone' && endedAt === undefined) await this.#overtaken(lease)
    if (outcome.kind === 'unsent') throw new EngineError('the engine does not answer')
  }

  #followLease(key: string, shared: SharedLease): void {
    const { leases } = this.#parts
    leases.follow(shared)
    const lease = leases.ofIdentity(key)
    if (lease?.id === shared.id) this.#writer.isWritten(lease)
  }

  /** Whether the head says all that there is to know of a change. */
  #isEnough(
    { kind, subject }: Pick<Change, 'kind' | 'subject'>,
    { sequence, isEnded, expiresAt }: LeaseHead,
  ): boolean {
    if (isEnded || expiresAt <= now()) return true
    const known = this.#parts.leases.ofIdentity(subject)
    if (known === undefined) return false
    return known.sequence > sequence || (known.sequence === sequence && kind === RENEWAL)
  }

  async #read(key: string): Promise<[head: string | undefined, json: string | undefined]> {
    const { engine, keys } = this.#parts
    const [head, json] = (await engine.command('HMGET', keys.lease(key), 'h', 'j')) as (string | null)[]
    return [head ?? undefined, json ?? undefined]
  }

  /** The identity has a newer lease, or another one has its name. */
  async #overtaken(lease: Lease): Promise<void> {
    const [head, json] = await this.#read(lease.identityKey).catch(() => [])
    if (head !== undefined) this.follow(lease.identityKey, head, json)
    this.#parts.leases.end(lease, 'unregistered')
  }
}

function sharedOf(lease: Lease): SharedLease {
  const { machine = '', ...known } = lease
  return { ...known, machine }
}
