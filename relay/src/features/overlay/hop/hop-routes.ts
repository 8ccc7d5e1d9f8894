// The hop routes of this relay: where it forwards visitors of a hostname, or of a token, and which tokens end here.

import { type ExpiryEntry, ExpiryHeap } from '../../../core/lease/expiry-heap.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import { HopError } from './hop-error.ts'
import { HOP_REMOVED_MAX, HOP_ROUTES } from './limits.ts'
import { Quota } from './quota.ts'

/** A route, or a token that ends at this relay. */
export interface HopEntry {
  /** The visitors' hostname at the first relay; the SHA-256 of the token at the others. */
  readonly key: string
  readonly lease: Lease
  /** SHA-256 of the visitors' hostname, in hex digits. */
  readonly hostnameHash: string
  /** The next relay, and the token for it; undefined at the last relay, which has the lease's sessions. */
  readonly next: NextRelay | undefined
  /** Wall time: the end that the owner signed. */
  readonly signedUntil: number
  /** Relay time. */
  readonly expiresAt: number
}

export interface NextRelay {
  /** Identity of the peer: lower case with `0x`. */
  readonly identity: string
  readonly token: string
}

interface Kept {
  entry: HopEntry
  expiry: ExpiryEntry<string>
  giveBack: () => void
}

interface KeysOfLease {
  keys: Set<string>
  /** Removes the listeners on the lease. */
  release: () => void
}

export class HopRoutes {
  readonly #kept = new Map<string, Kept>()
  readonly #room = new Quota<string>(HOP_ROUTES)
  readonly #ofLease = new Map<Lease, KeysOfLease>()
  /**
   * Keys of routes removed early, with their signed end by the wall clock: the same signature is not accepted again.
   */
  readonly #removed = new Map<string, number>()
  readonly #expiries = new ExpiryHeap<string>((key) => this.#drop(key))
  readonly #onChange: (key: string, entry: HopEntry | undefined) => void

  /** @param onChange called when a key gets its first route, and when it has none any more */
  constructor(onChange: (key: string, entry: HopEntry | undefined) => void) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#kept.size
  }

  find(key: string): HopEntry | undefined {
    return this.#kept.get(key)?.entry
  }

  /** Returns whether visitors of the lease come from another relay: it is on a route, and not at its first relay. */
  isReachedByRelay(lease: Lease): boolean {
    for (const key of this.#ofLease.get(lease)?.keys ?? []) if (!isHostname(key)) return true
    return false
  }

  /**
   * Adds a route, or replaces the one with its key.
   * @throws HopError when the relay has had a later signature for the key, or has no room
   */
  add(entry: HopEntry): void {
    const { key, lease } = entry
    // The lease may have ended while the request was read.
    if (lease.ended.aborted) throw new HopError('no_lease', 'the lease has ended')
    const known = this.#kept.get(key)
    const newest = Math.max(known?.entry.signedUntil ?? 0, this.#removedUntil(key))
    const isReplayed = known?.entry.lease === lease ? entry.signedUntil < newest : entry.signedUntil <= newest
    if (isReplayed) throw new HopError('replayed', 'the relay has had a later signature of this route')
    if (known === undefined || known.entry.lease !== lease) this.#requireRoom(lease.identity.address)
    if (known !== undefined) this.#forget(known)
    const expiry = this.#expiries.add(key, entry.expiresAt)
    this.#kept.set(key, { entry, expiry, giveBack: this.#room.take(lease.identity.address) })
    this.#keysOf(lease).add(key)
    this.#onChange(key, entry)
  }

  /**
   * Removes a route.
   * @param signedUntil the end that the owner signed for the removal, by the wall clock
   * @throws HopError when the relay has had a later signature for the key
   */
  remove(key: string, signedUntil: number): void {
    const known = this.#kept.get(key)
    if (known !== undefined && known.entry.signedUntil > signedUntil)
      throw new HopError('replayed', 'the relay has had a later signature of this route')
    this.#remember(key, signedUntil)
    this.#drop(key)
  }

  close(): void {
    for (const key of [...this.#kept.keys()]) this.#drop(key)
    this.#expiries.close()
  }

  #drop(key: string): void {
    const known = this.#kept.get(key)
    if (known === undefined) return
    this.#forget(known)
    this.#kept.delete(key)
    this.#remember(key, known.entry.signedUntil)
    this.#onChange(key, undefined)
  }

  #forget({ entry: { key, lease }, expiry, giveBack }: Kept): void {
    this.#expiries.remove(expiry)
    giveBack()
    const ofLease = this.#ofLease.get(lease)
    ofLease?.keys.delete(key)
    if (ofLease?.keys.size !== 0) return
    this.#ofLease.delete(lease)
    ofLease.release()
  }

  #requireRoom(owner: string): void {
    const refusal = this.#room.refusalOf(owner)
    if (refusal === 'holder_full')
      throw new HopError('owner_full', 'the owner has the maximum number of routes here', {
        'Retry-After': '60',
      })
    if (refusal === 'full') throw new HopError('full', 'this relay has no room for another route')
  }

  /** Keys of a lease's routes, which end with it, or when the policy closes it to visitors. */
  #keysOf(lease: Lease): Set<string> {
    const known = this.#ofLease.get(lease)
    if (known !== undefined) return known.keys
    const keys = new Set<string>()
    const end = (): void => {
      for (const key of [...keys]) this.#drop(key)
    }
    lease.ended.addEventListener('abort', end)
    const releaseBlock = lease.onBlock(end)
    const release = (): void => {
      releaseBlock()
      lease.ended.removeEventListener('abort', end)
    }
    this.#ofLease.set(lease, { keys, release })
    return keys
  }

  #removedUntil(key: string): number {
    return this.#removed.get(key) ?? 0
  }

  #remember(key: string, signedUntil: number): void {
    if (signedUntil <= Date.now()) return
    const until = Math.max(signedUntil, this.#removedUntil(key))
    this.#removed.delete(key)
    this.#removed.set(key, until)
    for (const [oldest, end] of this.#removed) {
      if (this.#removed.size <= HOP_REMOVED_MAX && end > Date.now()) return
      this.#removed.delete(oldest)
    }
  }
}

/** A key without a dot is the hash of a token. */
export function isHostname(key: string): boolean {
  return key.includes('.')
}
