// Another machine of this relay: the sessions that it reports, and the link over which visitors get there.

import type { Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import type { Stream } from '@svc/yamux'
import type { Pipe } from '../../../core/bridge/pipe.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import { LEASES_MAX } from '../../../core/lease/lease-registry.ts'
import { Bandwidth } from '../../../core/rate-limit/bandwidth.ts'
import type { HandOverOutcome, PendingVisitor, SessionPeer } from '../../../core/reverse/pending-visitor.ts'
import { readyQueueOf } from '../../../core/reverse/ready-queues.ts'
import { StreamDuplex } from '../../../core/reverse/stream-duplex.ts'
import { LINK_TAKEN_MS } from '../limits.ts'
import { encodeFeatureHead } from './feature-head.ts'
import type { LinkClient } from './link-client.ts'
import type { SessionCount } from './link-messages.ts'
import { encodeVisitorHead, TAKEN } from './visitor-head.ts'

/** The other machine enforces the identity's bandwidth. */
const UNLIMITED = new Bandwidth(() => 0)

export interface HandOverCounts {
  handedOut: number
  handedIn: number
  handOversFailed: number
}

interface PeerMachineParts {
  name: string
  pipe: Pipe
  /** Finds an active lease by its identity. */
  leaseOf: (key: string) => Lease | undefined
  /** Client address of the visitor; undefined when a trusted proxy named no client. */
  clientIpOf: (pending: PendingVisitor) => string | undefined
  counts: HandOverCounts
}

export class PeerMachine implements SessionPeer {
  readonly isMachine = true
  readonly name: string
  readonly #parts: PeerMachineParts
  /** By identity key, since a count may arrive before its lease is known here. */
  readonly #ready = new Map<string, { id: string; ready: number }>()
  /** Leases of which the machine has just refused a visitor. */
  readonly #doubted = new Set<Lease>()
  /** Undefined until this machine first dials it. */
  link: LinkClient | undefined
  /** The connection whose messages count: those of an earlier one may come late. */
  source: object | undefined
  /** Whether the machine says that it is in step with Redis. */
  isInStep = true
  /** Whether it had not received the last change that it was asked about. */
  hasMissed = false

  constructor(parts: PeerMachineParts) {
    this.#parts = parts
    this.name = parts.name
  }

  get isReachable(): boolean {
    return this.link?.isUp === true
  }

  /** Whether changes have to be sent to it directly. */
  get isLagging(): boolean {
    return this.isReachable && (!this.isInStep || this.hasMissed)
  }

  /** Applies changed numbers of sessions. */
  report(counts: readonly SessionCount[]): void {
    for (const [key, id, ready] of counts) {
      if (ready <= 0) this.#ready.delete(key)
      else if (this.#ready.has(key) || this.#ready.size < LEASES_MAX) this.#ready.set(key, { id, ready })
      const lease = this.#parts.leaseOf(key)
      if (lease?.id === id) this.#setReady(lease, ready)
    }
  }

  /** Applies the known number of sessions to the queue of a new lease. */
  apply(lease: Lease): void {
    const known = this.#ready.get(lease.identityKey)
    if (known?.id === lease.id) this.#setReady(lease, known.ready)
  }

  /** Called when the link to the machine opens or closes. */
  changed(): void {
    for (const [key, { id, ready }] of this.#ready) {
      const lease = this.#parts.leaseOf(key)
      if (lease?.id === id) this.#setReady(lease, ready)
    }
  }

  forget(lease: Lease): void {
    if (this.#ready.get(lease.identityKey)?.id === lease.id) this.#ready.delete(lease.identityKey)
  }

  /** Called when the machine's connection is lost. */
  lost(): void {
    this.isInStep = true
    const known = [...this.#ready]
    this.#ready.clear()
    for (const [key, { id }] of known) {
      const lease = this.#parts.leaseOf(key)
      if (lease?.id === id) this.#setReady(lease, 0)
    }
  }

  async handOver(pending: PendingVisitor): Promise<HandOverOutcome> {
    const { visitor } = pending
    const { counts, pipe } = this.#parts
    if (visitor.destroyed) return 'gone'
    const stream = await this.#enter(encodeVisitorHead(pending, this.#parts.clientIpOf(pending)))
    if (stream === undefined) {
      counts.handOversFailed += 1
      this.#doubt(pending.lease)
      return 'returned'
    }
    counts.handedOut += 1
    const session = new StreamDuplex(stream)
    if (pending.hello === undefined)
      // A reset tells the visitor of a dedicated port that bytes are missing, as it does for a site of this machine.
      session.once('close', () => {
        if (!session.readableEnded) resetSocket(visitor)
      })
    await pipe(visitor, session, UNLIMITED)
    return 'gone'
  }

  /**
   * Passes on a visitor of a snapshot that the machine has. Resolves when the visitor has left.
   * @param visitor paused, as if nothing had been read from it
   * @returns false when the machine does not accept it; the connection is then still open
   */
  async passOn(visitor: Socket, serverName: string, clientIp: string | undefined): Promise<boolean> {
    const { counts, pipe } = this.#parts
    const stream = await this.#enter(encodeFeatureHead(serverName, clientIp))
    if (stream === undefined) {
      counts.handOversFailed += 1
      return false
    }
    counts.handedOut += 1
    await pipe(visitor, new StreamDuplex(stream), UNLIMITED)
    return true
  }

  /** @returns the stream, once the machine has accepted the visitor */
  async #enter(head: Uint8Array): Promise<Stream | undefined> {
    let stream: Stream | undefined
    // Unlike AbortSignal.timeout(), this timer can be cleared when the machine has answered.
    const late = new AbortController()
    const deadline = setTimeout(() => late.abort(), LINK_TAKEN_MS)
    try {
      stream = await this.link?.openStream()
      if (stream === undefined) return undefined
      await stream.write(head)
      const answer = await stream.read({ signal: late.signal, maxBytes: 1 })
      if (answer?.[0] === TAKEN) return stream
    } catch {
    } finally {
      clearTimeout(deadline)
    }
    stream?.abort()
    return undefined
  }

  /** Sends the machine no more visitors of this lease for a moment. */
  #doubt(lease: Lease): void {
    readyQueueOf(lease).setPeerCount(this, 0)
    if (this.#doubted.has(lease)) return
    this.#doubted.add(lease)
    const restore = (): void => {
      this.#doubted.delete(lease)
      if (!lease.ended.aborted) this.apply(lease)
    }
    setTimeout(restore, LINK_TAKEN_MS).unref()
  }

  #setReady(lease: Lease, ready: number): void {
    readyQueueOf(lease).setPeerCount(this, this.isReachable ? ready : 0)
  }
}
