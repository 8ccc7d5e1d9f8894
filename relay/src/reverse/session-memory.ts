// The memory that browsers' WebSockets take in the relay, counted for each one, each lease, each source, and all together.
// Beyond a bound the streams that hold the most are reset, and a WebSocket that holds much without a stream is closed.

import { getHeapStatistics } from 'node:v8'
import type { MemoryMeter } from '@svc/yamux'
import { networkOf } from '../client-address/ip-address.ts'
import type { Lease } from '../lease/lease.ts'
import {
  SESSION_MEMORY_GROWTH_SHARE,
  SESSION_MEMORY_HEAP_SHARE,
  SESSION_MEMORY_MAX_BYTES,
  SESSION_MEMORY_PER_LEASE_MAX_BYTES,
  SESSION_MEMORY_PER_NETWORK_MAX_BYTES,
  SESSION_MEMORY_RELIEF_SHARE,
} from '../limits.ts'

/** Whose memory a bound is of. */
export type MemoryBound = 'websocket' | 'lease' | 'network' | 'relay'

export interface SessionMemoryBounds {
  perSession: number
  perLease: number
  perNetwork: number
  all: number
}

/** A WebSocket, as far as memory is concerned. */
export interface MemoryHolder {
  /** Resets the streams that hold the most until `bytes` are free. @returns how many bytes are */
  shed(bytes: number): number
  /** Closes it at once. */
  terminate(): void
}

export class SessionMemories {
  readonly #bounds: SessionMemoryBounds
  readonly #onRelief: (bound: MemoryBound) => void
  readonly #all: Group
  /** Of leases and sources with an open WebSocket. */
  readonly #leases = new Map<Lease, Group>()
  readonly #networks = new Map<string, Group>()

  /** @param relieved told of each bound that was exceeded */
  constructor(
    onRelief: (bound: MemoryBound) => void = () => {},
    bounds: SessionMemoryBounds = defaultBounds(),
  ) {
    this.#bounds = bounds
    this.#onRelief = onRelief
    this.#all = new Group(bounds.all, () => onRelief('relay'))
  }

  /** What all WebSockets hold, in bytes. */
  get held(): number {
    return this.#all.held
  }

  /** Counts what a WebSocket holds. @param source normalized address of its client; undefined when it stands for many */
  open(lease: Lease, clientIp: string | undefined, holder: MemoryHolder): SessionMemory {
    const { perSession, perLease, perNetwork } = this.#bounds
    const groups = [
      new Group(perSession, () => this.#onRelief('websocket')),
      groupOf(this.#leases, lease, perLease, () => this.#onRelief('lease')),
      this.#all,
    ]
    if (clientIp !== undefined)
      groups.push(groupOf(this.#networks, networkOf(clientIp), perNetwork, () => this.#onRelief('network')))
    return new SessionMemory(groups, holder)
  }
}

/** What one WebSocket holds: its meter, until it is closed. */
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

  /** In bytes. */
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

  /** Frees `bytes`, or everything. */
  relieve(bytes: number): void {
    const until = this.#held - bytes
    this.#holder.shed(bytes)
    // What is left is in no stream: a message that does not end, or answers that nobody reads.
    if (this.#held <= until) return
    this.close()
    this.#holder.terminate()
  }

  /** The WebSocket is closed, or will be in a moment: it holds nothing any more. */
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

  /** More at once than is needed, so that this is done seldom. Who holds the most gives way. */
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
