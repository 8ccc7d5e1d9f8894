// Bounds the memory that carriers take in the relay: of each one, each lease, each network, and all together.
// Beyond a bound the relay resets the streams that hold the most, and closes a carrier that holds much without a stream.

import { getHeapStatistics } from 'node:v8'
import type { MemoryMeter } from '@svc/yamux'
import { networkOf } from '../client-address/ip-address.ts'
import type { Lease } from '../lease/lease.ts'
import type { MemoryBound } from '../metrics/labels.ts'

/**
 * Bytes that the relay may hold for one carrier: those that visitors have not read, and those of visitors that the
 * client has not taken. 256 visitors who stopped reading have a first window of 256 KiB each.
 */
const SESSION_MEMORY_MAX_BYTES = 64 * 1024 * 1024
/** The same for all carriers of one lease. */
const SESSION_MEMORY_PER_LEASE_MAX_BYTES = 96 * 1024 * 1024
/** The same for all carriers from one network. */
const SESSION_MEMORY_PER_NETWORK_MAX_BYTES = 128 * 1024 * 1024
/** The same for all carriers, as a share of the process's heap limit. */
const SESSION_MEMORY_HEAP_SHARE = 0.25
/** Receive windows grow while less than this share of each of the four bounds is in use. */
const SESSION_MEMORY_GROWTH_SHARE = 0.5
/** Beyond a bound, the relay frees memory until this share of the bound is in use. */
const SESSION_MEMORY_RELIEF_SHARE = 0.875

export interface SessionMemoryBounds {
  perSession: number
  perLease: number
  perNetwork: number
  all: number
}

/** A carrier whose memory is counted. */
export interface MemoryHolder {
  /** Resets the streams that hold the most until `bytes` are free. @returns the number of bytes freed */
  shed(bytes: number): number
  /** Closes the carrier at once. */
  terminate(): void
}

export class SessionMemories {
  readonly #bounds: SessionMemoryBounds
  readonly #onRelief: (bound: MemoryBound) => void
  readonly #all: Group
  /** Leases with an open carrier. */
  readonly #leases = new Map<Lease, Group>()
  readonly #networks = new Map<string, Group>()

  /** @param onRelief called with each bound that was exceeded */
  constructor(
    onRelief: (bound: MemoryBound) => void = () => {},
    bounds: SessionMemoryBounds = defaultBounds(),
  ) {
    this.#bounds = bounds
    this.#onRelief = onRelief
    this.#all = new Group(bounds.all, () => onRelief('relay'))
  }

  /** Bytes that all carriers hold. */
  get held(): number {
    return this.#all.held
  }

  /** Counts what a carrier holds. @param clientIp normalized address; undefined for a proxy, which stands for many */
  open(lease: Lease, clientIp: string | undefined, holder: MemoryHolder): SessionMemory {
    const { perSession, perLease, perNetwork } = this.#bounds
    const groups = [
      new Group(perSession, () => this.#onRelief('carrier')),
      groupOf(this.#leases, lease, perLease, () => this.#onRelief('lease')),
      this.#all,
    ]
    if (clientIp !== undefined)
      groups.push(groupOf(this.#networks, networkOf(clientIp), perNetwork, () => this.#onRelief('network')))
    return new SessionMemory(groups, holder)
  }
}

/** Counts what one carrier holds until it closes. */
export class SessionMemory implements MemoryMeter {
  readonly #groups: readonly Group[]
  readonly #holder: MemoryHolder
  #held = 0
  #isClosed = false

  constructor(groups: readonly Group[], holder: MemoryHolder) {
    this.#groups = groups
    this.#holder = holder
    for (const group of groups) group.add(this)
  }

  /** Bytes that the carrier holds. */
  get held(): number {
    return this.#held
  }

  get mayGrow(): boolean {
    return this.#groups.every((group) => group.held < group.max * SESSION_MEMORY_GROWTH_SHARE)
  }

  hold(bytes: number): void {
    if (this.#isClosed) return
    this.#held += bytes
    for (const group of this.#groups) group.held += bytes
    if (bytes <= 0) return
    for (const group of this.#groups) if (group.held > group.max) group.relieve()
  }

  /** Frees `bytes`, or closes the carrier. */
  relieve(bytes: number): void {
    const until = this.#held - bytes
    this.#holder.shed(bytes)
    // The rest is in no stream: an incomplete message, or answers that the client does not read.
    if (this.#held <= until) return
    this.close()
    this.#holder.terminate()
  }

  /** Stops counting, since the carrier is closed or about to be. */
  close(): void {
    if (this.#isClosed) return
    this.hold(-this.#held)
    this.#isClosed = true
    for (const group of this.#groups) group.remove(this)
  }
}

class Group {
  readonly max: number
  held = 0
  readonly #sessions = new Set<SessionMemory>()
  readonly #onRelieve: () => void
  readonly #onEmpty: () => void

  constructor(max: number, onRelieve: () => void, onEmpty: () => void = () => {}) {
    this.max = max
    this.#onRelieve = onRelieve
    this.#onEmpty = onEmpty
  }

  add(session: SessionMemory): void {
    this.#sessions.add(session)
  }

  remove(session: SessionMemory): void {
    this.#sessions.delete(session)
    if (this.#sessions.size === 0) this.#onEmpty()
  }

  /** Frees more than is needed, so that this happens seldom, beginning with the carrier that holds the most. */
  relieve(): void {
    this.#onRelieve()
    const target = this.max * SESSION_MEMORY_RELIEF_SHARE
    const sessions = [...this.#sessions].sort((one, other) => other.held - one.held)
    for (const session of sessions) {
      if (this.held <= target) break
      session.relieve(Math.min(session.held, this.held - target))
    }
  }
}

function groupOf<Key>(groups: Map<Key, Group>, key: Key, max: number, onRelieve: () => void): Group {
  const known = groups.get(key)
  if (known !== undefined) return known
  const group = new Group(max, onRelieve, () => groups.delete(key))
  groups.set(key, group)
  return group
}

function defaultBounds(): SessionMemoryBounds {
  return {
    perSession: SESSION_MEMORY_MAX_BYTES,
    perLease: SESSION_MEMORY_PER_LEASE_MAX_BYTES,
    perNetwork: SESSION_MEMORY_PER_NETWORK_MAX_BYTES,
    all: getHeapStatistics().heap_size_limit * SESSION_MEMORY_HEAP_SHARE,
  }
}
