// The leases of a relay on several machines: each change goes to Redis first, and from there to all machines.

import { type Identity, identityKey } from '@svc/protocol'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import { now } from '../../../core/clock.ts'
import { RelayError } from '../../../core/errors.ts'
import { type Lease, newLeaseId } from '../../../core/lease/lease.ts'
import type { LeasePorts } from '../../../core/lease/lease-ports.ts'
import { NO_PREFERENCES } from '../../../core/lease/lease-preferences.ts'
import type { LeaseRegistry } from '../../../core/lease/lease-registry.ts'
import type { LeaseAddresses, LeaseRequest } from '../../../core/lease/lease-request.ts'
import type { LeaseGrant, LeaseSharing, SharedLease } from '../../../core/lease/lease-sharing.ts'
import { NAME_RESERVATION_MS, type Reservations } from '../../../core/lease/reservations.ts'
import {
  CHANGES_KEPT,
  DOMAIN_CLAIM_MS,
  FENCE_MAX,
  LEASES_PER_READ,
  NAME_INDEX_MS,
  REDIS_ATTEMPTS_MAX,
} from '../limits.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { type Change, orDown, type RedisClient, RedisError, redisIsDown } from '../redis/redis-client.ts'
import type { RedisClock } from '../redis/redis-clock.ts'
import { CLAIM_DOMAIN, NEXT_FENCE, REGISTER, SWEEP_INDEX } from '../redis/scripts.ts'
import type { Seal } from '../shared/seal.ts'
import { EndedLeases } from './ended-leases.ts'
import { LeaseEntries, type LeaseHead } from './lease-entry.ts'
import { LeaseWriter } from './lease-writer.ts'

/** What Redis has of a lease, by identity key. */
type FoundLeases = ReadonlyMap<string, Pick<LeaseHead, 'sequence' | 'expiresAt' | 'isEnded'>>

interface ClusterLeasesParts {
  machine: string
  /** Identifies this run of the machine. */
  run: string
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  clock: RedisClock
  leases: LeaseRegistry
  reservations: Reservations
  portHost: () => string | undefined
  /** Returns the hostname of a label on this relay. */
  hostname: (label: string) => string
  /** Epoch of Redis that this machine is in step with; undefined while it is in step with none. */
  epoch: () => string | undefined
  /** Sends a lease to the other machines directly, while Redis is down. */
  broadcast: (identityName: string, head: string, json: string) => void
  /** Sends a lease directly to the machines that do not receive changes from Redis. */
  sendToLagging: (identityName: string, head: string, json: string) => void
  /** Whether there are such machines. */
  hasLagging: () => boolean
  /** Asks the other machines that can be reached whether another identity has the friendly hostname of this one. */
  isTakenElsewhere: (key: string) => Promise<boolean>
  /** Resolves when the other reachable machines have applied all changes up to this one. */
  settled: (change: string) => Promise<void>
  /** Resolves when the reachable machines have received all messages sent so far. */
  acknowledged: () => Promise<void>
}

export class ClusterLeases implements LeaseSharing {
  readonly machine: string
  readonly #parts: ClusterLeasesParts
  readonly #entries: LeaseEntries
  readonly #writer: LeaseWriter
  readonly #over = new EndedLeases()
  /** The largest fencing token known to this machine. */
  #lastFence = 0
  /** Id of the last change that this machine made. */
  #lastChange = ''

  constructor(parts: ClusterLeasesParts) {
    this.#parts = parts
    this.machine = parts.machine
    this.#entries = new LeaseEntries(parts)
    this.#writer = new LeaseWriter({
      ...parts,
      entries: this.#entries,
      isPast: (head) => this.#isPast(head),
    })
    parts.leases.onChange((lease) => {
      const { reason } = lease.ended
      if (reason === 'unregistered' || reason === 'replaced') this.#over.add(lease)
    })
  }

  /** Whether the lease is known to be over, even while this machine does not receive the others' leases. */
  isOver({ name, address }: Identity, id: string): boolean {
    return this.#over.hasId(identityKey(name, address), id)
  }

  async register(
    request: LeaseRequest,
    given: { hostname: string; firstSeenAt: number; ports: LeasePorts | undefined } & LeaseAddresses,
  ): Promise<LeaseGrant> {
    const { clock, machine, portHost } = this.#parts
    const [id, time] = [newLeaseId(), now()]
    const { metadata, preferences = NO_PREFERENCES, ttlS } = request
    const described = {
      ...request,
      ...given,
      id,
      machine,
      portHost: portHost(),
      metadata,
      preferences,
      lastSeenAt: time,
    }
    const expires = Math.round(clock.toRedis(time + ttlS * 1000))
    const { name, address } = request.identity
    const key = identityKey(name, address)
    const conflict = new RelayError(
      'hostname_conflict',
      `${this.#entries.friendlyHostname(key)} belongs to another identity`,
    )
    let hasFriendly = given.hostname !== ''
    for (let attempt = 0; attempt < REDIS_ATTEMPTS_MAX; attempt++) {
      // Somebody may have removed the other lease from Redis, but the machines remember it.
      const isTaken = hasFriendly && (await this.#parts.isTakenElsewhere(key))
      const outcome = isTaken
        ? 'conflict'
        : await this.#tryRegister(key, described, { expires, hasFriendly, ttlS })
      if (typeof outcome === 'object') {
        const hostname = hasFriendly ? this.#entries.friendlyHostname(key) : ''
        return { id, sequence: outcome.sequence, hostname, expiresAt: clock.toRelay(expires), machine }
      }
      if (outcome !== 'conflict') continue
      if (!request.allowCanonicalFallback) throw conflict
      hasFriendly = false
    }
    throw redisIsDown()
  }

  /** @returns `again` when an invalid entry was in the way, or another machine was faster */
  async #tryRegister(
    key: string,
    described: Omit<SharedLease, 'sequence' | 'hostname' | 'expiresAt'>,
    { expires, hasFriendly, ttlS }: { expires: number; hasFriendly: boolean; ttlS: number },
  ): Promise<{ sequence: number } | 'conflict' | 'again'> {
    const { redis, keys, run, epoch, leases } = this.#parts
    const known = epoch()
    if (known === undefined) throw redisIsDown()
    const sequence = Number(
      await orDown(redis.run(NEXT_FENCE, { fence: keys.fence }, { known: this.#lastFence, most: FENCE_MAX })),
    )
    this.#lastFence = Math.max(this.#lastFence, sequence)
    const { metadata, clientIp, reportedIp, lastSeenAt } = described
    const seen = { lastSeenAt, clientIp, reportedIp }
    const tag = this.#entries.tagOf(sequence, metadata)
    const { awayPage } = described.preferences
    const head = this.#entries.formatHead({
      key,
      sequence,
      expires,
      isEnded: false,
      hasFriendly,
      tag,
      awayPage,
      seen,
    })
    const [name, hostname] = [keys.identityName(key), this.#entries.hostnameName(key, hasFriendly)]
    const [outcome, first = '', headText = ''] = (await orDown(
      redis.run(
        REGISTER,
        {
          epoch: keys.epoch,
          lease: keys.lease(name),
          holder: keys.holder(hostname),
          changes: keys.changes,
          index: keys.leaseIndex,
        },
        {
          epoch: known,
          identity: name,
          leases: keys.leases,
          hostname,
          fence: sequence,
          ttlMs: ttlS * 1000,
          keptMs: leases.isPinnedTo(described.identity) ? 0 : NAME_RESERVATION_MS,
          indexMs: NAME_INDEX_MS,
          changesKept: CHANGES_KEPT,
          machine: run,
          head,
          json: this.#entries.formatJson(described, sequence),
        },
      ),
    )) as [string, string?, string?]
    if (outcome === 'epoch') throw redisIsDown()
    if (outcome === 'registered') {
      this.#lastChange = first
      return { sequence }
    }
    const other = this.#entries.parseHead(first, headText)
    if (other === undefined || this.#isPast(other)) await orDown(this.#writer.drop(first, headText))
    else if (outcome === 'conflict') return 'conflict'
    else this.#lastFence = Math.max(this.#lastFence, other.sequence)
    return 'again'
  }

  async claimDomain({ identityKey }: Lease, domain: string, provenAt: number): Promise<boolean> {
    const { redis, keys, clock } = this.#parts
    const claim = {
      identity: keys.identityName(identityKey),
      provenAt: Math.round(clock.toRedis(provenAt)),
      keptMs: DOMAIN_CLAIM_MS,
    }
    return (await orDown(redis.run(CLAIM_DOMAIN, { domain: keys.customDomain(domain) }, claim))) === 1
  }

  async renewed(lease: Lease): Promise<void> {
    const outcome = await this.#writer.put(lease)
    if (outcome.kind === 'put') {
      lease.expiresAt = Math.max(lease.expiresAt, outcome.expiresAt)
      if (this.#parts.hasLagging()) this.#writer.sendToLagging(lease)
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
    const { settled, hasLagging, acknowledged } = this.#parts
    if (this.#lastChange !== '') await settled(this.#lastChange)
    if (!hasLagging()) return
    this.#writer.sendToLagging(lease, lease.ended.aborted ? now() : undefined)
    await acknowledged()
  }

  /** Heads of leases that ended early, so that older heads still say that they are active. */
  *endedEarly(): Generator<[identityName: string, head: string]> {
    for (const { lease, endedAt } of this.#over)
      if (lease.expiresAt > now()) yield this.#writer.endOf(lease, endedAt)
  }

  /** Whether this machine knows that another identity has the friendly hostname of this one, or had it until a moment ago. */
  isTakenHere(key: string): boolean {
    const colon = key.lastIndexOf(':')
    return this.#parts.leases.isTaken({ name: key.slice(0, colon), address: key.slice(colon + 1) })
  }

  /**
   * Applies changes of leases that other machines made, in order.
   * @throws RedisError when the changes are not enough, and Redis does not answer
   */
  async applyAll(changes: readonly Pick<Change, 'subject' | 'entry'>[]): Promise<void> {
    const heads = changes.map(({ subject, entry }) => this.#entries.parseHead(subject, entry))
    const unknown = changes.filter((_, index) => heads[index] !== undefined && !this.#isEnough(heads[index]))
    const asked = [...new Set(unknown.map(({ subject }) => subject))]
    const found = new Map(
      await Promise.all(asked.map(async (name) => [name, await this.#read(name)] as const)),
    )
    for (const [index, { subject }] of changes.entries()) {
      const head = heads[index]
      const [latest, json] = found.get(subject) ?? []
      const isLater = latest !== undefined && head !== undefined && latest.sequence >= head.sequence
      if (latest !== undefined && json !== undefined && isLater) this.#apply(latest, json)
      else if (head !== undefined) this.#apply(head)
    }
  }

  /** Applies what another machine sends of a lease. @param json may be omitted when the lease is known already */
  apply(identityName: string, headText: string, json?: string): void {
    const head = this.#entries.parseHead(identityName, headText)
    if (head !== undefined) this.#apply(head, json)
  }

  #apply(head: LeaseHead, json?: string): void {
    const { leases } = this.#parts
    const { key, isEnded, hasFriendly, expiresAt, sequence, awayPage, seen } = head
    this.#lastFence = Math.max(this.#lastFence, sequence)
    const known = leases.ofIdentity(key)
    if (!isEnded && expiresAt > now()) {
      if (this.#isPast(head)) return
      const lease = json === undefined ? undefined : this.#entries.parseJson(head, json)
      if (lease !== undefined) this.#applyLease(key, lease)
      else if (known?.sequence === sequence) leases.apply({ ...sharedOf(known), ...seen, expiresAt })
      return
    }
    if (known !== undefined && known.sequence > sequence) return
    const hostname = hasFriendly ? this.#entries.friendlyHostname(key) : ''
    if (known !== undefined && isEnded) leases.end(known, 'unregistered')
    else if (known === undefined) {
      const network = seen.clientIp === '' ? undefined : networkOf(seen.clientIp)
      leases.applyEnd(key, { hostname, expiresAt, network, awayPage })
    }
  }

  /** Whether a head is older than what this machine knows of the identity: Redis has lost data, or somebody put it back. */
  #isPast({ key, sequence, isEnded }: LeaseHead): boolean {
    const known = this.#parts.leases.ofIdentity(key)
    const isPast =
      (known !== undefined && known.sequence > sequence) || (!isEnded && this.#over.has(key, sequence))
    if (isPast) this.#parts.seal.warn('lease', 'replayed')
    return isPast
  }

  /** Reads all leases of Redis. @returns the fencing token and the end of each @throws RedisError */
  async load(): Promise<FoundLeases> {
    const { redis, keys } = this.#parts
    const found = new Map<string, Pick<LeaseHead, 'sequence' | 'expiresAt' | 'isEnded'>>()
    let cursor = '0'
    do {
      // Other machines may reorder the index during the scan, which tolerates that.
      const [next, pairs] = (await redis.command(
        'ZSCAN',
        keys.leaseIndex,
        cursor,
        'COUNT',
        LEASES_PER_READ,
      )) as [string, string[]]
      cursor = next
      const members = pairs.filter((_, at) => at % 2 === 0)
      for (const [head, json] of await Promise.all(members.map((name) => this.#read(name)))) {
        if (head === undefined) continue
        const { key, sequence, expiresAt, isEnded } = head
        found.set(key, { sequence, expiresAt, isEnded })
        this.#apply(head, json)
      }
    } while (cursor !== '0')
    return found
  }

  /**
   * Writes to Redis the leases that it lacks or has in an older state, and applies those that it has in a newer one.
   * @param found what Redis has
   * @throws RedisError
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

  /** Sends the changes that could not be sent before. @throws RedisError */
  async flush(): Promise<void> {
    await this.#writer.flush((lease) => this.#overtaken(lease))
  }

  /** Removes leases that are over from the index. @throws RedisError */
  async sweep(): Promise<void> {
    const { redis, keys } = this.#parts
    await redis.run(SWEEP_INDEX, { index: keys.leaseIndex }, { leases: keys.leases, count: LEASES_PER_READ })
  }

  async #fillOne(lease: Lease, endedAt?: number): Promise<void> {
    const outcome = await this.#writer.put(lease, endedAt)
    if (outcome.kind === 'gone' && endedAt === undefined) await this.#overtaken(lease)
    if (outcome.kind === 'unsent') throw new RedisError('Redis does not answer')
  }

  #applyLease(key: string, shared: SharedLease): void {
    const { leases } = this.#parts
    leases.apply(shared)
    const lease = leases.ofIdentity(key)
    if (lease?.id === shared.id) this.#writer.isWritten(lease)
  }

  /** Whether the head is enough to apply a change, without the JSON. */
  #isEnough({ key, sequence, isEnded, expiresAt, tag }: LeaseHead): boolean {
    if (isEnded || expiresAt <= now()) return true
    const known = this.#parts.leases.ofIdentity(key)
    if (known === undefined) return false
    return (
      known.sequence > sequence ||
      (known.sequence === sequence && this.#entries.tagOf(sequence, known.metadata) === tag)
    )
  }

  /** @returns undefined for a head that no machine wrote */
  async #read(identityName: string): Promise<[head: LeaseHead | undefined, json: string | undefined]> {
    const { redis, keys } = this.#parts
    const reply = (await redis.command('HMGET', keys.lease(identityName), 'h', 'j')) as (string | null)[]
    const [head, json] = reply
    return [head ? this.#entries.parseHead(identityName, head) : undefined, json ?? undefined]
  }

  /** Ends a lease whose identity has a newer one, or whose name another identity has. */
  async #overtaken(lease: Lease): Promise<void> {
    const name = this.#parts.keys.identityName(lease.identityKey)
    const [head, json] = await this.#read(name).catch(() => [])
    if (head !== undefined) this.#apply(head, json)
    this.#parts.leases.end(lease, 'unregistered')
  }
}

function sharedOf(lease: Lease): SharedLease {
  const { machine = '', ...known } = lease
  return { ...known, machine }
}
