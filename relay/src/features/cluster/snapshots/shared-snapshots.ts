// The snapshots of the static cache on several machines: Redis records which one has a site's, and the others route
// there.

import { now } from '../../../core/clock.ts'
import type { FeatureRoute, Route } from '../../../core/lease/route.ts'
import type { Logger } from '../../../core/log/log.ts'
import type { RoutingTable } from '../../../core/routing/routing-table.ts'
import {
  CACHE_RECORD_LAG_MS,
  type CacheUse,
  type LocalSnapshots,
  type RemoteSnapshot,
  type SharedSnapshot,
  type SnapshotSharing,
} from '../../static-cache/snapshot-sharing.ts'
import { CHANGES_KEPT, LEASES_PER_READ } from '../limits.ts'
import type { MachineLinks } from '../links/machine-links.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { orDown, type RedisClient, redisIsDown } from '../redis/redis-client.ts'
import type { RedisClock } from '../redis/redis-clock.ts'
import { FORGET_SNAPSHOT, PUT_SNAPSHOT, REMOVE_SNAPSHOT } from '../redis/scripts.ts'
import type { Seal } from '../shared/seal.ts'
import { RemoteSnapshots } from './remote-snapshots.ts'
import { formatSnapshotEntry, parseSnapshotEntry, type SnapshotEntry } from './snapshot-entry.ts'

interface SharedSnapshotsParts {
  machine: string
  /** Identifies this run of the machine. */
  run: string
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  clock: RedisClock
  /** Returns the canonical hostname of an identity; undefined when the key is not that of an identity. */
  canonicalHostname: (identityKey: string) => string | undefined
  routes: Pick<RoutingTable<Route>, 'cover' | 'uncover'>
  links: () =>
    | Pick<
        MachineLinks,
        'isReachable' | 'passOn' | 'settled' | 'hasLagging' | 'sendChangeToLagging' | 'acknowledged'
      >
    | undefined
  /** Sums what the caches of the other machines use. */
  useElsewhere: () => CacheUse
  /** Whether this machine is in step with Redis. */
  isInStep: () => boolean
  log: Logger
}

/** The answer of Redis when it did not take an entry. */
const NOT_PUT = '0-0'
/** Largest difference between two machines' readings of Redis's clock. */
const SAME_MOMENT_MS = 1_000
const NO_USE: CacheUse = { usedBytes: 0, maxBytes: 0 }

export class SharedSnapshots implements SnapshotSharing {
  readonly #parts: SharedSnapshotsParts
  readonly #elsewhere: RemoteSnapshots
  #local: LocalSnapshots | undefined
  /** By identity key: the time of the last change that this machine knows, by Redis's clock. The oldest ones are forgotten. */
  readonly #changed = new Map<string, number>()
  /** Identities whose snapshot was removed here while Redis was down. */
  readonly #unsent = new Set<string>()

  constructor(parts: SharedSnapshotsParts) {
    this.#parts = parts
    this.#elsewhere = new RemoteSnapshots({
      routes: parts.routes,
      isReachable: (machine) => parts.links()?.isReachable(machine) === true,
      passOn: async (...visitor) => (await parts.links()?.passOn(...visitor)) === true,
    })
  }

  get machine(): string {
    return this.#parts.machine
  }

  /** The bytes that this machine uses: none where the static cache is off. */
  get use(): CacheUse {
    return this.#local?.use() ?? NO_USE
  }

  join(local: LocalSnapshots): void {
    this.#local = local
  }

  elsewhere(): Iterable<RemoteSnapshot> {
    return this.#elsewhere.all()
  }

  useElsewhere(): CacheUse {
    return this.#parts.useElsewhere()
  }

  find(identityKey: string, digest: string): number | undefined {
    return this.#elsewhere.find(identityKey, digest)
  }

  requireOthers(): void {
    if (!this.#parts.isInStep()) throw redisIsDown()
  }

  async put(snapshot: SharedSnapshot): Promise<void> {
    const { identityKey } = snapshot
    const { change, text } = await orDown(this.#put(snapshot))
    this.#elsewhere.delete(identityKey)
    await this.#settled(change, identityKey, text)
  }

  async remove(identityKey: string): Promise<void> {
    const { change, text } = await orDown(this.#remove(identityKey))
    this.#elsewhere.delete(identityKey)
    await this.#settled(change, identityKey, text)
  }

  async moved(snapshot: SharedSnapshot): Promise<void> {
    // If this fails, the next renewal that moves it sends it again.
    await this.#put(snapshot, this.#own).catch(() => {})
  }

  async gone(identityKey: string): Promise<void> {
    try {
      await this.#forget(identityKey)
    } catch {
      this.#unsent.add(identityKey)
    }
  }

  /** Returns the route for a visitor who came in at another machine. */
  routeOf(hostname: string): FeatureRoute | undefined {
    const route = this.#local?.routeOf(hostname)
    return route?.isOpen() ? route : undefined
  }

  /** Applies a change that another machine made. */
  apply(identityName: string, text: string): void {
    const entry = parseSnapshotEntry(this.#parts, identityName, text)
    if (entry !== undefined) this.#apply(entry)
  }

  /** @returns whether the entry is the latest one */
  #apply({ identityKey, changed, snapshot }: SnapshotEntry): boolean {
    const { machine, clock, canonicalHostname } = this.#parts
    const last = this.#changed.get(identityKey) ?? 0
    // Two machines may have written at the same moment; Redis knows the order.
    if (changed + SAME_MOMENT_MS < last) return false
    this.#remember(identityKey, Math.max(changed, last))
    const hostname = canonicalHostname(identityKey)
    if (snapshot?.machine === machine || hostname === undefined) return true
    if (snapshot === undefined || !this.#elsewhere.has(identityKey, snapshot))
      this.#local?.removedElsewhere(identityKey)
    if (snapshot === undefined) {
      this.#elsewhere.delete(identityKey)
      return true
    }
    const expiresAt = clock.toRelay(snapshot.expires)
    // The entry lags behind the end that the machine with the snapshot knows.
    const forgottenAt = expiresAt + CACHE_RECORD_LAG_MS
    this.#elsewhere.set(identityKey, { ...snapshot, hostname, expiresAt, forgottenAt })
    return true
  }

  #remember(identityKey: string, changed: number): void {
    this.#changed.delete(identityKey)
    this.#changed.set(identityKey, changed)
    if (this.#changed.size > CHANGES_KEPT) this.#changed.delete(this.#changed.keys().next().value!)
  }

  /** Updates the routes when a machine becomes reachable or unreachable. */
  judge(): void {
    this.#elsewhere.judge()
  }

  /**
   * Reads all entries of Redis.
   * @returns the machine of each; empty when the site has removed the snapshot
   * @throws RedisError
   */
  async load(): Promise<Map<string, string>> {
    const { redis, keys, seal } = this.#parts
    const found = new Map<string, string>()
    for (let at = 0; ; at += LEASES_PER_READ) {
      const to = at + LEASES_PER_READ - 1
      const members = (await redis.command('ZRANGE', keys.snapshotIndex, at, to)) as string[]
      if (members.length === 0) break
      const names = members.map((identityName) => keys.snapshot(identityName))
      const entries = (await redis.command('MGET', ...names)) as (string | null)[]
      for (const [index, text] of entries.entries()) {
        const entry = text === null ? undefined : parseSnapshotEntry(this.#parts, members[index]!, text)
        if (entry === undefined) continue
        if (this.#apply(entry)) found.set(entry.identityKey, entry.snapshot?.machine ?? '')
        else seal.warn('snapshot', 'replayed')
      }
    }
    for (const identityKey of this.#elsewhere.keys())
      if (!found.has(identityKey)) this.#elsewhere.delete(identityKey)
    return found
  }

  /** Adds to Redis what it lacks of this machine's snapshots, and removes those that are gone. @throws RedisError */
  async fill(found: ReadonlyMap<string, string>): Promise<void> {
    const here = new Set<string>()
    for (const snapshot of this.#local?.all() ?? []) {
      const { identityKey } = snapshot
      here.add(identityKey)
      if (!found.has(identityKey)) await this.#put(snapshot, this.#own)
    }
    for (const [identityKey, machine] of found)
      if (machine === this.#parts.machine && !here.has(identityKey)) await this.#forget(identityKey)
  }

  /** Sends the changes that could not be sent before. @throws RedisError */
  async flush(): Promise<void> {
    for (const identityKey of this.#unsent) {
      await this.#forget(identityKey)
      this.#unsent.delete(identityKey)
    }
  }

  close(): void {
    this.#elsewhere.close()
  }

  /** Resolves when the machines that can be reached know of a change. */
  async #settled(change: string, identityKey: string, entry: string): Promise<void> {
    const links = this.#parts.links()
    await links?.settled(change)
    if (!links?.hasLagging) return
    links.sendChangeToLagging('snapshot', this.#parts.keys.identityName(identityKey), entry)
    await links.acknowledged()
  }

  /** @param snapshot undefined when the site has no snapshot any more */
  #entryOf(identityKey: string, snapshot?: SharedSnapshot): { text: string; changed: number } {
    const { machine, clock } = this.#parts
    const changed = Math.max(Math.round(clock.toRedis(now())), (this.#changed.get(identityKey) ?? 0) + 1)
    const described = snapshot && { ...snapshot, machine, expires: clock.toRedis(snapshot.expiresAt) }
    return { text: formatSnapshotEntry(this.#parts, { identityKey, changed, snapshot: described }), changed }
  }

  /** The name that stands for this machine in an entry. */
  get #own(): string {
    return this.#parts.keys.machineName(this.#parts.machine)
  }

  /**
   * @param expected the machine that an existing entry must name to be replaced
   * @returns id of the change, and the entry
   */
  async #put(snapshot: SharedSnapshot, expected = ''): Promise<{ change: string; text: string }> {
    const { redis, keys, clock, run } = this.#parts
    const { identityKey, expiresAt } = snapshot
    const { text, changed } = this.#entryOf(identityKey, snapshot)
    const name = keys.identityName(identityKey)
    const end = Math.round(clock.toRedis(expiresAt))
    const change = `${await redis.run(
      PUT_SNAPSHOT,
      { snapshot: keys.snapshot(name), index: keys.snapshotIndex, changes: keys.changes },
      {
        identity: name,
        end,
        keptMs: CACHE_RECORD_LAG_MS,
        entry: text,
        changesKept: CHANGES_KEPT,
        machine: run,
        expected,
      },
    )}`
    if (change !== NOT_PUT) this.#remember(identityKey, changed)
    this.#unsent.delete(identityKey)
    return { change, text }
  }

  /** @returns id of the change, even when there was no snapshot, and the entry */
  async #remove(identityKey: string): Promise<{ change: string; text: string }> {
    const { redis, keys, run } = this.#parts
    const { text, changed } = this.#entryOf(identityKey)
    const name = keys.identityName(identityKey)
    const reply = await redis.run(
      REMOVE_SNAPSHOT,
      { snapshot: keys.snapshot(name), changes: keys.changes },
      { identity: name, entry: text, changesKept: CHANGES_KEPT, machine: run },
    )
    this.#remember(identityKey, changed)
    return { change: `${reply}`, text }
  }

  async #forget(identityKey: string): Promise<void> {
    const { redis, keys, run } = this.#parts
    const { text, changed } = this.#entryOf(identityKey)
    const name = keys.identityName(identityKey)
    const reply = await redis.run(
      FORGET_SNAPSHOT,
      { snapshot: keys.snapshot(name), index: keys.snapshotIndex, changes: keys.changes },
      { identity: name, name: this.#own, changesKept: CHANGES_KEPT, machine: run, entry: text },
    )
    if (Number(reply) === 1) this.#remember(identityKey, changed)
  }
}
