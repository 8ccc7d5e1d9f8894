// The snapshots of the static cache on several machines: the engine says which one has that of a site, and the others lead there.

import type {
  CacheUse,
  LocalSnapshots,
  RemoteSnapshot,
  SharedSnapshot,
  SnapshotSharing,
} from '../../cache/snapshot-sharing.ts'
import type { FeatureRoute, Route } from '../../lease/route.ts'
import { CACHE_RECORD_LAG_MS } from '../../limits.ts'
import type { Logger } from '../../log/log.ts'
import type { RoutingTable } from '../../routing/routing-table.ts'
import { type Engine, EngineError, engineIsDown } from '../engine/engine.ts'
import type { EngineClock } from '../engine/engine-clock.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { FORGET_SNAPSHOT, PUT_SNAPSHOT, REMOVE_SNAPSHOT } from '../engine/scripts.ts'
import { CHANGES_KEPT, LEASES_PER_READ } from '../limits.ts'
import type { MachineLinks } from '../links/machine-links.ts'
import { SnapshotsElsewhere } from './elsewhere.ts'
import { formatSnapshotEntry, NO_SNAPSHOT, namesMachine, parseSnapshotEntry } from './snapshot-entry.ts'

interface SharedSnapshotsParts {
  machine: string
  /** Names this start of the machine. */
  run: string
  engine: Engine
  keys: EngineKeys
  clock: EngineClock
  routes: Pick<RoutingTable<Route>, 'cover' | 'uncover'>
  links: () =>
    | Pick<MachineLinks, 'isReachable' | 'passOn' | 'settled' | 'hasBehind' | 'tellChangeBehind' | 'heard'>
    | undefined
  /** Sums what the caches of the other machines use. */
  useElsewhere: () => CacheUse
  /** Whether this machine is in step with the engine. */
  isInStep: () => boolean
  log: Logger
}

const NO_USE: CacheUse = { usedBytes: 0, maxBytes: 0 }

export class SharedSnapshots implements SnapshotSharing {
  readonly #parts: SharedSnapshotsParts
  readonly #elsewhere: SnapshotsElsewhere
  #local: LocalSnapshots | undefined
  /** Identities whose snapshot has gone here while the engine could not be told. */
  readonly #unsent = new Set<string>()

  constructor(parts: SharedSnapshotsParts) {
    this.#parts = parts
    this.#elsewhere = new SnapshotsElsewhere({
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
    if (!this.#parts.isInStep()) throw engineIsDown()
  }

  async put(snapshot: SharedSnapshot): Promise<void> {
    const change = await orDown(this.#put(snapshot))
    this.#elsewhere.delete(snapshot.identityKey)
    await this.#settled(change, snapshot.identityKey, this.#entryOf(snapshot))
  }

  async remove(identityKey: string): Promise<void> {
    const change = await orDown(this.#remove(identityKey))
    this.#elsewhere.delete(identityKey)
    await this.#settled(change, identityKey, NO_SNAPSHOT)
  }

  async moved(snapshot: SharedSnapshot): Promise<void> {
    // The next renewal that moves it tells it, too.
    await this.#put(snapshot, this.#own).catch(() => {})
  }

  async gone(identityKey: string): Promise<void> {
    try {
      await this.#forget(identityKey)
    } catch {
      this.#unsent.add(identityKey)
    }
  }

  /** Serves a visitor who came in at another machine. */
  routeOf(hostname: string): FeatureRoute | undefined {
    const route = this.#local?.routeOf(hostname)
    return route?.isOpen() ? route : undefined
  }

  /** Follows a change that another machine made. */
  follow(identityKey: string, text: string): void {
    const { machine, clock } = this.#parts
    const entry = parseSnapshotEntry(text)
    if (entry?.machine === machine) return
    if (entry === undefined || !this.#elsewhere.has(identityKey, entry))
      this.#local?.removedElsewhere(identityKey)
    if (entry === undefined) {
      this.#elsewhere.delete(identityKey)
      return
    }
    const expiresAt = clock.toRelay(entry.expires)
    // The machine that has it knows its end better than its entry, which lags behind.
    this.#elsewhere.set(identityKey, { ...entry, expiresAt, forgottenAt: expiresAt + CACHE_RECORD_LAG_MS })
  }

  /** A machine can be reached again, or no more. */
  judge(): void {
    this.#elsewhere.judge()
  }

  /** Reads all entries of the engine. @returns the machine of each; empty where the site has removed it @throws EngineError */
  async load(): Promise<Map<string, string>> {
    const { engine, keys } = this.#parts
    const found = new Map<string, string>()
    for (let at = 0; ; at += LEASES_PER_READ) {
      const to = at + LEASES_PER_READ - 1
      const members = (await engine.command('ZRANGE', keys.snapshotIndex, at, to)) as string[]
      if (members.length === 0) break
      const names = members.map((identityKey) => keys.snapshot(identityKey))
      const entries = (await engine.command('MGET', ...names)) as (string | null)[]
      for (const [index, text] of entries.entries()) {
        if (text === null) continue
        found.set(members[index]!, parseSnapshotEntry(text)?.machine ?? '')
        this.follow(members[index]!, text)
      }
    }
    for (const identityKey of this.#elsewhere.keys())
      if (!found.has(identityKey)) this.#elsewhere.delete(identityKey)
    return found
  }

  /** Puts what is here and the engine does not know, and takes off what is here no more. @throws EngineError */
  async fill(found: ReadonlyMap<string, string>): Promise<void> {
    const here = new Set<string>()
    for (const snapshot of this.#local?.all() ?? []) {
      here.add(snapshot.identityKey)
      if (!found.has(snapshot.identityKey)) await this.#put(snapshot, this.#own)
    }
    for (const [identityKey, machine] of found)
      if (machine === this.#parts.machine && !here.has(identityKey)) await this.#forget(identityKey)
  }

  /** Sends what could not be sent before. @throws EngineError */
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
    if (!links?.hasBehind) return
    links.tellChangeBehind('snapshot', identityKey, entry)
    await links.heard()
  }

  #entryOf({ identityKey: _, expiresAt, ...described }: SharedSnapshot): string {
    const { machine, clock } = this.#parts
    return formatSnapshotEntry({ machine, ...described, expires: clock.toEngine(expiresAt) })
  }

  /** The part of an entry by which it names this machine. */
  get #own(): string {
    return namesMachine(this.#parts.machine)
  }

  /** @param expected what an entry that is there has to say for it to be replaced @returns id of the change */
  async #put(snapshot: SharedSnapshot, expected = ''): Promise<string> {
    const { engine, keys, clock, run } = this.#parts
    const { identityKey, expiresAt } = snapshot
    const reply = await engine.run(
      PUT_SNAPSHOT,
      [keys.snapshot(identityKey), keys.snapshotIndex, keys.changes],
      [
        identityKey,
        Math.round(clock.toEngine(expiresAt)),
        CACHE_RECORD_LAG_MS,
        this.#entryOf(snapshot),
        CHANGES_KEPT,
        run,
        expected,
      ],
    )
    this.#unsent.delete(identityKey)
    return `${reply}`
  }

  /** @returns id of the change, also where there was no snapshot */
  async #remove(identityKey: string): Promise<string> {
    const { engine, keys, run } = this.#parts
    const reply = await engine.run(
      REMOVE_SNAPSHOT,
      [keys.snapshot(identityKey), keys.changes],
      [identityKey, NO_SNAPSHOT, CHANGES_KEPT, run],
    )
    return `${reply}`
  }

  async #forget(identityKey: string): Promise<void> {
    const { engine, keys, run } = this.#parts
    await engine.run(
      FORGET_SNAPSHOT,
      [keys.snapshot(identityKey), keys.snapshotIndex, keys.changes],
      [identityKey, this.#own, CHANGES_KEPT, run, NO_SNAPSHOT],
    )
  }
}

/** @throws RelayError `feature_unavailable` while the engine does not answer */
async function orDown<T>(reply: Promise<T>): Promise<T> {
  return await reply.catch((error) => {
    throw error instanceof EngineError ? engineIsDown() : error
  })
}
