// Authorizes the new streams of one carrier: each must send its lease's capability.

import { CAPABILITY_DEADLINE_MS, CAPABILITY_MAX_BYTES, STREAM_ANSWER } from '@svc/protocol'
import type { Stream } from '@svc/yamux'
import type { Lease } from '../lease/lease.ts'
import type { CarrierLiveness } from './carrier-liveness.ts'
import type { ReadyQueue } from './ready-queue.ts'
import { readyQueueOf } from './ready-queues.ts'
import type { SessionMemory } from './session-memory.ts'
import { StreamDuplex } from './stream-duplex.ts'

/**
 * Streams of one carrier that have not shown their capability yet, or that the relay rejected and that are still
 * open.
 */
const HALF_OPEN_STREAMS_MAX = 64

/** Returns the active lease of a capability. Throws when there is none. */
export type LeaseOf = (capability: string) => Lease

const LENGTH_BYTES = 2

export class StreamAuthorizer {
  readonly #lease: Lease
  readonly #ready: ReadyQueue
  readonly #leaseOf: LeaseOf
  readonly #memory: SessionMemory
  readonly #liveness: CarrierLiveness
  #halfOpen = 0

  /** @param leaseOf finds the lease of a capability */
  constructor(lease: Lease, leaseOf: LeaseOf, memory: SessionMemory, liveness: CarrierLiveness) {
    this.#lease = lease
    this.#ready = readyQueueOf(lease)
    this.#leaseOf = leaseOf
    this.#memory = memory
    this.#liveness = liveness
  }

  /**
   * Makes `stream` a ready session of the lease, or rejects it. Resets it when too many are pending. The promise
   * never rejects.
   */
  async authorize(stream: Stream): Promise<void> {
    if (this.#halfOpen >= HALF_OPEN_STREAMS_MAX) return stream.abort()
    this.#halfOpen += 1
    const deadline = setTimeout(() => stream.abort(), CAPABILITY_DEADLINE_MS)
    try {
      const capability = await this.#readCapability(stream)
      const isAuthorized = capability !== undefined && this.#isOfLease(capability)
      await (isAuthorized && this.#ready.hasRoom ? this.#accept(stream) : reject(stream))
    } catch {
      stream.abort()
    } finally {
      clearTimeout(deadline)
      this.#halfOpen -= 1
    }
  }

  async #accept(stream: Stream): Promise<void> {
    await stream.write(Uint8Array.of(STREAM_ANSWER.accepted))
    const session = new StreamDuplex(stream, this.#liveness)
    if (!this.#ready.offer(session)) session.destroy()
  }

  /** Whether the capability is valid and belongs to the lease that opened the carrier. */
  #isOfLease(capability: string): boolean {
    try {
      return this.#leaseOf(capability) === this.#lease
    } catch {
      return false
    }
  }

  /**
   * Reads the capability: two bytes of length, then the text.
   * @returns undefined when the client sent anything but one capability
   */
  async #readCapability(stream: Stream): Promise<string | undefined> {
    let received = Buffer.alloc(0)
    try {
      for (;;) {
        const bytes = await stream.read()
        if (bytes === undefined) return undefined
        received = Buffer.concat([received, bytes])
        this.#memory.hold(bytes.length)
        if (received.length < LENGTH_BYTES) continue
        const length = received.readUInt16BE(0)
        if (length === 0 || length > CAPABILITY_MAX_BYTES) return undefined
        if (received.length > LENGTH_BYTES + length) return undefined
        if (received.length === LENGTH_BYTES + length) return received.toString('utf8', LENGTH_BYTES)
      }
    } finally {
      this.#memory.hold(-received.length)
    }
  }
}

/** Rejects the stream and ends it. Resolves once the client has ended it, too, and discards what it sends until then. */
async function reject(stream: Stream): Promise<void> {
  stream.discard()
  await stream.write(Uint8Array.of(STREAM_ANSWER.rejected))
  await stream.end()
  await stream.closed
}
