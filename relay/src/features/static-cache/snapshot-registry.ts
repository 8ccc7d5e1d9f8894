// The snapshots that are present: one of each identity, each until it expires. The registry sends visitors of a site's canonical
// hostname to its snapshot for as long as the policy routes the identity, and follows the leases.

import { networkOf, wideNetworkOf } from '../../core/client-address/ip-address.ts'
import { now } from '../../core/clock.ts'
import { ExpiryHeap } from '../../core/lease/expiry-heap.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { FeatureRoute, Route } from '../../core/lease/route.ts'
import type { Logger } from '../../core/log/log.ts'
import type { PolicyRules } from '../../core/policy/policy-rules.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import type { Counted } from '../../core/traffic/counted-connection.ts'
import { ClosingSites } from './closing-sites.ts'
import { PresentSnapshot, recordOf } from './present-snapshot.ts'
import type { BorrowedSnapshot, ServedSnapshots, Snapshot, SnapshotReader } from './snapshot.ts'
import { SnapshotExpiry } from './snapshot-expiry.ts'
import { choose, type Newcomer } from './snapshot-room.ts'
import { digestOfSnapshot, type SharedSnapshot, type SnapshotSharing } from './snapshot-sharing.ts'
import { bytesOf, diskBytesOf } from './snapshot-size.ts'
import type { SnapshotRecord, SnapshotStore, StagedSnapshot } from './storage/snapshot-store.ts'
import { busy, notRouted, type Upload } from './upload/upload-admission.ts'

/** Snapshots that the static cache has, one of each identity. */
export const CACHE_SNAPSHOTS_MAX = 128

export interface RegistryParts {
  routes: RoutingTable<Route>
  policy: PolicyRules
  leases: Pick<LeaseRegistry, 'onChange'>
  store: Pick<SnapshotStore, 'kept' | 'usedBytes' | 'borrow' | 'isRead' | 'rewrite' | 'remove'>
  /** Bytes of the disk that all snapshots may take. */
  maxBytes: number
  /** Longest time for which a snapshot is served without its site, in seconds. */
  ttlMaxS: number
  /** Whether a site is uploading, which keeps its snapshot. */
  isUploading: (identityKey: string) => boolean
  /** Returns whether the relay can end TLS for hostnames of sites. */
  canServe: () => boolean
  /** Serves a visitor of a snapshot. */
  serve: FeatureRoute['serve']
  /** The other machines; undefined on a single machine. */
  sharing?: SnapshotSharing | undefined
  log: Logger
}

export class SnapshotRegistry implements ServedSnapshots {
  readonly #parts: RegistryParts
  readonly #expiry: SnapshotExpiry
  readonly #expiries = new ExpiryHeap<PresentSnapshot>((present) => void this.#drop(present))
  readonly #byIdentity = new Map<string, PresentSnapshot>()
  readonly #byHostname = new Map<string, PresentSnapshot>()
  readonly #onClosed = new Set<(hostname: string, isBanned: boolean) => void>()
  readonly #closing = new ClosingSites((hostname) => this.#notifyClosed(hostname, true))
  /** Removals of files that are under way. */
  readonly #removals = new Set<Promise<void>>()
  /** Counts uses of snapshots, so that each is later than the one before it, whatever the clock says. */
  #uses = 0
  #isClosed = false

  /** Takes over the snapshots that the store has kept from before the relay started. */
  constructor(parts: RegistryParts) {
    this.#parts = parts
    this.#expiry = new SnapshotExpiry(parts.ttlMaxS)
    const { leases, policy, store } = parts
    leases.onChange((lease) => this.#follow(lease))
    policy.onChange(() => this.judge())
    const kept = [...store.kept].sort((one, other) => one.record.publishedAt - other.record.publishedAt)
    // The operator may have set another host, or an earlier release may have kept more of them.
    for (const { snapshot } of kept.slice(0, -CACHE_SNAPSHOTS_MAX)) void this.#remove(snapshot)
    for (const { snapshot, record } of kept.slice(-CACHE_SNAPSHOTS_MAX)) this.#keep(snapshot, record)
  }

  /** Opens and closes hostnames according to the current policy, and to what the relay can serve. */
  judge(): void {
    for (const present of [...this.#byIdentity.values()]) this.#judge(present)
    this.#closing.judge((owner) => this.#parts.policy.routes(owner))
  }

  get size(): number {
    return this.#byIdentity.size
  }

  [Symbol.iterator](): Iterator<PresentSnapshot> {
    return this.#byIdentity.values()
  }

  onClosed(listener: (hostname: string, isBanned: boolean) => void): void {
    this.#onClosed.add(listener)
  }

  borrow(hostname: string, reader?: SnapshotReader): BorrowedSnapshot | undefined {
    const present = this.#byHostname.get(hostname)
    if (present === undefined || !this.isServed(present)) return undefined
    this.#use(present)
    return this.#parts.store.borrow(present.snapshot, reader)
  }

  leaseOf(hostname: string): Lease | undefined {
    const present = this.#byHostname.get(hostname)
    return present !== undefined && this.isServed(present) ? present.lease : undefined
  }

  /** Whose traffic visitors of a hostname are. */
  ownerOf(hostname: string): Counted | undefined {
    const present = this.#byHostname.get(hostname)
    return present && (present.lease ?? { identityKey: present.identityKey, registeredFrom: present.network })
  }

  /** The snapshot of an identity, unless it has expired. */
  of(identityKey: string): PresentSnapshot | undefined {
    const present = this.#byIdentity.get(identityKey)
    return present !== undefined && present.expiresAt > now() ? present : undefined
  }

  /** Returns whether visitors may have it now. */
  isServed(present: PresentSnapshot): boolean {
    const { policy, canServe } = this.#parts
    return this.of(present.identityKey) === present && policy.routes(present) && canServe()
  }

  /** Records that the site has asked whether its snapshot is there. */
  touch(present: PresentSnapshot): void {
    this.#use(present)
  }

  /**
   * Publishes what a site has uploaded, in place of what it had.
   * @throws RelayError when the upload may no longer become a snapshot, and PlainError when there are too many
   *   snapshots; nothing is left of the upload then
   */
  async publish(
    staged: StagedSnapshot,
    { lease, signal }: Pick<Upload, 'lease' | 'signal'>,
  ): Promise<PresentSnapshot> {
    const { policy } = this.#parts
    const isWanted = (): boolean => !signal.aborted && policy.routes(lease)
    const isFull = isWanted() && !this.#makePlace(lease)
    if (isFull) {
      await staged.discard()
      throw busy('the static cache has the maximum number of sites')
    }
    if (isWanted()) {
      const record = recordOf(lease, this.#expiry.whileRenewed(lease), Date.now())
      const snapshot = await staged.publish(record)
      if (isWanted()) return await this.#share(this.#put(snapshot, record, lease))
      await this.#remove(snapshot)
    } else await staged.discard()
    signal.throwIfAborted()
    throw notRouted()
  }

  /** The snapshots that other machines may pass visitors on to. */
  *shared(): Iterable<SharedSnapshot> {
    for (const present of this.#byIdentity.values()) if (present.expiresAt > now()) yield sharedOf(present)
  }

  /** The route of visitors of a hostname that has a snapshot here. */
  routeOf(hostname: string): FeatureRoute | undefined {
    return this.#byHostname.get(hostname)?.route
  }

  /**
   * Removes the snapshot of an identity, if there is one. Visitors get no part of it once this returns; the promise
   * resolves when its files are gone.
   */
  async remove(identityKey: string): Promise<void> {
    const present = this.#byIdentity.get(identityKey)
    if (present !== undefined) await this.#drop(present)
  }

  /** As {@link remove}, but the promise resolves as soon as no restart brings the snapshot back. Its files may be there. */
  async invalidate(identityKey: string): Promise<void> {
    const present = this.#byIdentity.get(identityKey)
    if (present === undefined) return
    await new Promise<void>((resolve) => void this.#drop(present, false, resolve).then(resolve))
  }

  /**
   * Removes snapshots that {@link choose} selects until this many bytes of the disk are freed. One that a visitor is
   * reading stays, since its removal would free nothing yet.
   * @param size bytes of the disk that the upload of the lease takes
   * @returns whether that many bytes were freed; otherwise nothing is removed
   */
  async makeRoom(bytes: number, { clientIp }: Pick<Lease, 'clientIp'>, size: number): Promise<boolean> {
    const { store, maxBytes } = this.#parts
    const before = store.usedBytes
    const victims = choose<PresentSnapshot>(bytes, newcomer(clientIp, size), {
      all: this,
      removable: this.#removable().filter(({ snapshot }) => !store.isRead(snapshot)),
      sizeOf: ({ snapshot }) => diskBytesOf(snapshot),
      total: maxBytes,
    })
    if (victims === undefined) return false
    await Promise.all(victims.map((present) => this.#drop(present)))
    return store.usedBytes <= before - bytes
  }

  /** Ends all routes and timers; the files stay for the next start. Resolves when nothing is being written. */
  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#byIdentity.values()]
    for (const present of all) {
      this.#uncover(present, false)
      this.#expiries.remove(present.expiry)
    }
    this.#expiries.close()
    this.#closing.close()
    this.#byIdentity.clear()
    this.#byHostname.clear()
    await Promise.all([...all.map((present) => present.settled()), ...this.#removals])
  }

  #keep(snapshot: Snapshot, record: SnapshotRecord): void {
    const expiresAt = this.#expiry.afterRestart(record.expiresAt)
    // A relay whose name has changed serves no hostname below the old one.
    const [label = ''] = snapshot.hostname.split('.', 1)
    const isHere = this.#parts.routes.hostname(label) === snapshot.hostname
    if (isHere && expiresAt > now()) this.#put(snapshot, record, undefined)
    else void this.#remove(snapshot)
  }

  #put(snapshot: Snapshot, record: SnapshotRecord, lease: Lease | undefined): PresentSnapshot {
    const before = this.#byIdentity.get(snapshot.identityKey)
    if (before !== undefined) void this.#remove(before.replace(snapshot, record), before.settled())
    const present = before ?? this.#add(snapshot, record)
    this.#use(present)
    if (lease === undefined) this.#expiries.move(present.expiry, this.#expiry.afterRestart(record.expiresAt))
    else this.#followActive(present, lease)
    this.#judge(present)
    return present
  }

  /** Frees a snapshot's place for an identity that has none. @returns whether it could */
  #makePlace({ identityKey, clientIp }: Pick<Lease, 'identityKey' | 'clientIp'>): boolean {
    // Two uploads that end at once may both have found a place.
    const needed = this.#byIdentity.size + 1 - CACHE_SNAPSHOTS_MAX
    if (this.#byIdentity.has(identityKey) || needed <= 0) return true
    const victims = choose<PresentSnapshot>(needed, newcomer(clientIp, 1), {
      all: this,
      removable: this.#removable(),
      sizeOf: () => 1,
      total: CACHE_SNAPSHOTS_MAX,
    })
    for (const victim of victims ?? []) void this.#drop(victim)
    return victims !== undefined
  }

  #add(snapshot: Snapshot, record: SnapshotRecord): PresentSnapshot {
    const { serve, log } = this.#parts
    const store = { rewrite: this.#rewrite }
    const route: FeatureRoute = { to: 'feature', isOpen: () => this.isServed(present), serve }
    const present: PresentSnapshot = new PresentSnapshot(snapshot, record, { store, route, log })
    present.expiry = this.#expiries.add(present, now())
    this.#byIdentity.set(present.identityKey, present)
    this.#byHostname.set(present.hostname, present)
    return present
  }

  /** A snapshot that the other machines do not know of does not replace the one that they know. @throws RelayError */
  async #share(present: PresentSnapshot): Promise<PresentSnapshot> {
    try {
      await this.#parts.sharing?.put(sharedOf(present))
      return present
    } catch (error) {
      await this.#drop(present)
      throw error
    }
  }

  readonly #rewrite: SnapshotStore['rewrite'] = async (snapshot, record) => {
    const { store, sharing } = this.#parts
    await store.rewrite(snapshot, record)
    const present = this.#byIdentity.get(snapshot.identityKey)
    if (present?.snapshot === snapshot) await sharing?.moved(sharedOf(present))
  }

  #follow(lease: Lease): void {
    const present = this.#byIdentity.get(lease.identityKey)
    if (present === undefined || this.#isClosed) return
    if (lease.ended.aborted) this.#followEnd(present, lease)
    else if (lease.preferences.cache) {
      this.#followActive(present, lease)
      this.#judge(present)
    } else void this.#drop(present)
  }

  #followActive(present: PresentSnapshot, lease: Lease): void {
    present.join(lease)
    this.#moveEnd(present, this.#expiry.whileRenewed(lease))
  }

  /** A relay that shuts down leaves the expiry as it is: the site comes back after the restart. */
  #followEnd(present: PresentSnapshot, lease: Lease): void {
    if (present.lease !== lease) return
    present.lease = undefined
    if (lease.ended.reason === 'shutdown') return
    this.#moveEnd(present, Math.min(present.expiresAt, this.#expiry.afterLease(lease)))
  }

  #moveEnd(present: PresentSnapshot, expiresAt: number): void {
    this.#expiries.move(present.expiry, expiresAt)
    present.store()
  }

  /** Opens or closes the hostname according to the current policy. A ban or a denial removes the snapshot. */
  #judge(present: PresentSnapshot): void {
    const routing = this.#parts.policy.routing(present)
    if (routing === 'rejected') void this.#drop(present, true)
    else if (routing === 'allowed' && this.#parts.canServe()) this.#cover(present)
    else this.#uncover(present, routing !== 'allowed')
  }

  #use(present: PresentSnapshot): void {
    this.#uses += 1
    present.use = this.#uses
    present.usedAt = now()
  }

  /** The least recently used comes first. */
  #removable(): PresentSnapshot[] {
    return [...this.#byIdentity.values()]
      .filter(({ identityKey }) => !this.#parts.isUploading(identityKey))
      .sort((one, other) => one.use - other.use)
  }

  #cover(present: PresentSnapshot): void {
    if (present.isCovered) return
    present.isCovered = true
    this.#parts.routes.cover(present.hostname, present.route)
  }

  /** A ban also ends connections that an earlier closing of the hostname left to end by themselves. */
  #uncover(present: PresentSnapshot, isBanned: boolean): void {
    if (!present.isCovered && !isBanned) return
    present.isCovered = false
    this.#parts.routes.uncover(present.hostname, present.route)
    this.#notifyClosed(present.hostname, isBanned)
  }

  #notifyClosed(hostname: string, isBanned: boolean): void {
    for (const listener of this.#onClosed) listener(hostname, isBanned)
  }

  /** Visitors get no part of it once this returns; the promise resolves when the files are gone. */
  #drop(present: PresentSnapshot, isBanned = false, onInvalidated?: () => void): Promise<void> {
    this.#byIdentity.delete(present.identityKey)
    this.#byHostname.delete(present.hostname)
    this.#expiries.remove(present.expiry)
    this.#uncover(present, isBanned)
    if (!isBanned && !this.#isClosed) this.#closing.add(present.hostname, present)
    present.end()
    if (!this.#isClosed) void this.#parts.sharing?.gone(present.identityKey)
    return this.#remove(present.snapshot, present.settled(), onInvalidated)
  }

  /**
   * Never rejects.
   * @param written resolves when nothing is being written there
   */
  #remove(
    snapshot: Snapshot,
    written: Promise<void> = Promise.resolve(),
    onInvalidated?: () => void,
  ): Promise<void> {
    const { store, log } = this.#parts
    const removal: Promise<void> = written
      .then(() => store.remove(snapshot, onInvalidated))
      .catch((error) => log.error({ err: error, hostname: snapshot.hostname }, 'a snapshot was not removed'))
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
    return removal
  }
}

function newcomer(clientIp: string, size: number): Newcomer {
  return { network: networkOf(clientIp), wideNetwork: wideNetworkOf(clientIp), size }
}

function sharedOf(present: PresentSnapshot): SharedSnapshot {
  const { identityKey, hostname, snapshot, publishedAt, expiresAt } = present
  const described = {
    digest: digestOfSnapshot(snapshot),
    files: snapshot.files.size,
    bytes: bytesOf(snapshot),
  }
  return { identityKey, hostname, ...described, publishedAt, expiresAt }
}
