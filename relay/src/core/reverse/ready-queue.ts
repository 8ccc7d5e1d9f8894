// Holds the ready sessions of one lease, and the visitors that wait for one.

import type { Duplex } from 'node:stream'
import { GcraLimiter, type Rate } from '@svc/node-kit/gcra'
import { CLAIM_TIMEOUT_MS, READY_SESSIONS_MAX } from '@svc/protocol'
import type { CarrierLiveness } from './carrier-liveness.ts'
import { type ClaimPriority, ClaimQueue } from './claim-queue.ts'
import { keepAlive } from './keepalives.ts'
import type { ClaimedSession, PendingVisitor, SessionPeer } from './pending-visitor.ts'
import { type SiteConnection, SitePresence } from './site-presence.ts'
import { livenessOf } from './stream-duplex.ts'

/** Machines that may forward one visitor: the sessions of its site may have moved by the time it arrives. */
const MACHINES_PASSED_MAX = 2
/**
 * Sessions of one lease that may break before they answer a visitor. Beyond that, the relay accepts no new ones until
 * the rate allows it. A native session costs the relay some 2 ms with its TLS handshake, so a site that answers no
 * visitor takes 0.4 % of it.
 */
export const SESSIONS_LOST: Rate = { perMinute: 120, burst: 60 }

interface Idle {
  session: Duplex
  /** When it became ready, in milliseconds of the monotonic clock. */
  since: number
  /** Stops watching the session. */
  release: () => void
}

/** Whether the visitor may go to another machine. */
function mayPass({ machinesPassed = 0 }: Way): boolean {
  return machinesPassed < MACHINES_PASSED_MAX
}

function isLive({ session }: Idle): boolean {
  return livenessOf(session)?.isSilent !== true
}

/** The peers that have forwarded a visitor. */
type Way = Partial<Pick<PendingVisitor, 'handedOverBy' | 'machinesPassed'>>

/** Empty placeholders that save memory: in a cluster, most leases have their sessions at other machines. */
const NO_CARRIERS: ReadonlySet<CarrierLiveness> = new Set()
const NONE_ELSEWHERE: ReadonlyMap<SessionPeer, number> = new Map()

export class ReadyQueue {
  readonly #idle: Idle[] = []
  /** Undefined until the first visitor waits. */
  #waiting: ClaimQueue | undefined
  /** Number of ready sessions in each peer, as last reported; undefined without such peers. */
  #elsewhere: Map<SessionPeer, number> | undefined
  /** Undefined until the first carrier comes. */
  #carriers: Set<CarrierLiveness> | undefined
  #waitingRoom: SessionPeer | undefined
  #onChange: (() => void) | undefined
  /** Sessions that broke before they answered a visitor; undefined until the first one does. */
  #lost: GcraLimiter | undefined
  /** Undefined until the site's first connection comes. */
  #presence: SitePresence | undefined
  #isSpread = false
  #closed = false

  /** Number of ready sessions in all known processes and machines, without those of silent carriers. */
  get size(): number {
    let size = this.#live
    for (const count of this.#elsewhere?.values() ?? []) size += count
    return size
  }

  /** Number of ready sessions in the processes of this machine. */
  get sizeHere(): number {
    let size = this.#live
    for (const [peer, count] of this.#elsewhere ?? NONE_ELSEWHERE) if (!peer.isMachine) size += count
    return size
  }

  /** Whether {@link offer} would take another session. */
  get hasRoom(): boolean {
    const isFull = this.#waitingVisitors === 0 && this.#live >= READY_SESSIONS_MAX
    return !this.#closed && !isFull && this.roomInMs === 0
  }

  /** Milliseconds until the queue takes another session, after too many broke before they answered a visitor. */
  get roomInMs(): number {
    return this.#lost?.waitMs(0, 1, performance.now()) ?? 0
  }

  /** Whether the lease has carriers in this process, and none of them answers. */
  get isSilent(): boolean {
    const carriers = this.#carriers ?? NO_CARRIERS
    return carriers.size > 0 && [...carriers].every(({ isSilent }) => isSilent)
  }

  /** State of the site's connections, as far as this process knows. */
  get connection(): SiteConnection {
    return this.#presence?.connection ?? 'none'
  }

  /** Whether the site left without unregistering, so that {@link claim} does not wait for it. */
  get #isAway(): boolean {
    return !this.#isSpread && this.#presence?.isAway === true
  }

  /** Whether {@link claim} would have to wait in this process. */
  isEmptyFor(visitor: Way): boolean {
    return this.#waitingRoom === undefined && this.#live === 0 && this.#findElsewhere(visitor) === undefined
  }

  /** From now on, visitors without a session wait in `peer`, which knows all sessions. */
  delegateWaitingTo(peer: SessionPeer): void {
    this.#waitingRoom = peer
  }

  /** Records that the site may have connections at machines unknown to this process. */
  spread(): void {
    this.#isSpread = true
  }

  /** @param source a connection of the site to this process, or a process that has some */
  setConnection(source: object, connection: SiteConnection): void {
    if (this.#closed || (this.#presence === undefined && connection !== 'open')) return
    this.#presence ??= new SitePresence(() => {
      if (this.#isAway) this.#waiting?.rejectAll()
    })
    const before = this.#presence.connection
    this.#presence.set(source, connection)
    if (this.#presence.connection !== before) this.#onChange?.()
  }

  /**
   * @param listener called when this process learns that the number of this machine's sessions, or {@link connection},
   *   has changed
   */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Keeps a session until it is claimed. @returns false when there is no room; the caller keeps the session */
  offer(session: Duplex): boolean {
    if (!this.hasRoom || session.destroyed) return false
    if (this.#waiting?.fulfil(session) !== true) {
      if (this.#idle.length >= READY_SESSIONS_MAX) this.#dropSilent()
      this.#idle.push(this.#watch(session))
      this.#onChange?.()
    }
    return true
  }

  /** Records that `peer` has `count` ready sessions, and gives them to the visitors that wait here first. */
  setPeerCount(peer: SessionPeer, count: number): void {
    let left = count
    while (left > 0 && this.#waiting?.fulfil(peer)) left -= 1
    const known = peer.isMachine ? count : left
    if (known > 0) {
      this.#elsewhere ??= new Map()
      this.#elsewhere.set(peer, known)
    } else if (this.#elsewhere?.delete(peer) && this.#elsewhere.size === 0) this.#elsewhere = undefined
    if (!peer.isMachine) this.#onChange?.()
  }

  /**
   * Claims the youngest session of this process, otherwise a peer with one, otherwise the next to come. The youngest is
   * the least likely to be dead, or to be closed by its SDK, which closes its oldest first.
   * @returns undefined when none came in time, the site left without unregistering, or too many visitors wait
   */
  async claim(
    gone: AbortSignal,
    timeoutMs: number = CLAIM_TIMEOUT_MS,
    visitor: ClaimPriority & Way = { network: undefined, isLowPriority: false },
  ): Promise<ClaimedSession | undefined> {
    if (gone.aborted) return undefined
    const session = this.#take(this.#idle.findLastIndex(isLive))
    if (session !== undefined) return session
    if (this.#closed) return undefined
    const peer = this.#takeElsewhere(visitor) ?? this.#waitingRoom
    if (peer !== undefined) return peer
    if (this.#isAway) return undefined
    this.#waiting ??= new ClaimQueue()
    return await this.#waiting.wait({ ...visitor, staysHere: !mayPass(visitor) }, gone, timeoutMs)
  }

  /**
   * Claims another session for a visitor whose last one broke, without waiting.
   * @param arrivedAt when the visitor came: no session that became ready later is claimed
   * @param from the process that handed the visitor over, which has no session either
   */
  claimAgain(
    gone: AbortSignal,
    arrivedAt: number,
    from: SessionPeer | undefined,
  ): ClaimedSession | undefined {
    if (gone.aborted) return undefined
    const session = this.#take(this.#idle.findLastIndex((idle) => isLive(idle) && idle.since <= arrivedAt))
    if (session !== undefined || this.#closed) return session
    return (
      this.#takeElsewhere({ machinesPassed: MACHINES_PASSED_MAX }, from) ??
      (this.#waitingRoom === from ? undefined : this.#waitingRoom)
    )
  }

  /** Watches a carrier: no visitor gets its sessions while it is silent. @returns a function that stops watching */
  watch(liveness: CarrierLiveness): () => void {
    this.#carriers ??= new Set()
    this.#carriers.add(liveness)
    const release = liveness.onChange(() => {
      this.#onChange?.()
      while (this.#waitingVisitors > 0) {
        const session = this.#take(this.#idle.findLastIndex(isLive))
        if (session === undefined) return
        this.#waiting?.fulfil(session)
      }
    })
    return () => {
      this.#carriers?.delete(liveness)
      release()
    }
  }

  /** Finds out which carriers of the lease are silent. */
  async probeCarriers(): Promise<void> {
    await Promise.all(Array.from(this.#carriers ?? NO_CARRIERS, (liveness) => liveness.probe()))
  }

  /** Counts a session that broke before it answered a visitor who was still there. */
  sessionLost(): void {
    this.#lost ??= new GcraLimiter(1, SESSIONS_LOST)
    this.#lost.spend(0, 1, performance.now())
  }

  /** Closes the sessions, and takes no more. */
  close(): void {
    this.#closed = true
    this.#presence?.close()
    this.clear()
  }

  /** Closes the ready sessions. Waiting visitors get a session that comes later, or one of a peer. */
  leave(): void {
    this.#closeIdle()
    this.#onChange?.()
  }

  /** Closes the ready sessions and refuses the waiting visitors. */
  clear(): void {
    this.#closeIdle()
    this.#elsewhere = undefined
    this.#onChange?.()
    this.#waiting?.rejectAll()
  }

  #closeIdle(): void {
    for (const { session, release } of this.#idle.splice(0)) {
      release()
      session.destroy()
    }
  }

  /** Claims from a peer. A process of this machine has a session less from now on. */
  #takeElsewhere(visitor: Way, but?: SessionPeer): SessionPeer | undefined {
    const best = this.#findElsewhere(visitor, but)
    const count = best && this.#elsewhere?.get(best)
    if (best === undefined || count === undefined) return undefined
    if (!best.isMachine) this.setPeerCount(best, count - 1)
    return best
  }

  /**
   * The peer with the most sessions, which is the least likely to have run out: a process of this machine, otherwise
   * another machine.
   */
  #findElsewhere(visitor: Way, but?: SessionPeer): SessionPeer | undefined {
    const isMobile = mayPass(visitor)
    let best: SessionPeer | undefined
    let most = 0
    for (const [peer, count] of this.#elsewhere ?? NONE_ELSEWHERE) {
      // A machine forwards a visitor because it has no session.
      if (peer === but || (peer.isMachine && (!isMobile || peer === visitor.handedOverBy))) continue
      const isNearer = best !== undefined && best.isMachine === true && !peer.isMachine
      const isFarther = best !== undefined && !best.isMachine && peer.isMachine === true
      if (isFarther || (count <= most && !isNearer)) continue
      best = peer
      most = count
    }
    return best
  }

  get #waitingVisitors(): number {
    return this.#waiting?.size ?? 0
  }

  get #live(): number {
    let live = 0
    for (const idle of this.#idle) if (isLive(idle)) live += 1
    return live
  }

  /** The oldest session of a silent carrier makes room for a new one. */
  #dropSilent(): void {
    const index = this.#idle.findIndex((idle) => !isLive(idle))
    if (index >= 0) this.#take(index)?.destroy()
  }

  /** @param index -1 when there is none */
  #take(index: number): Duplex | undefined {
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1)
    idle?.release()
    if (idle !== undefined) this.#onChange?.()
    return idle?.session
  }

  #watch(session: Duplex): Idle {
    const remove = () => {
      // A stream emits 'end' only if somebody reads it, and nobody reads a destroyed session.
      if (session.readableLength === 0) session.read()
      const index = this.#idle.indexOf(idle)
      if (index >= 0) this.#idle.splice(index, 1)
      idle.release()
      session.destroy()
      this.#onChange?.()
    }
    // An SDK sends nothing before the marker: bytes or an end before that are an error, or close the session.
    session.on('readable', remove)
    session.on('close', remove)
    session.on('error', remove)
    const stopKeepalives = keepAlive(session)
    const idle: Idle = {
      session,
      since: performance.now(),
      release: () => {
        stopKeepalives()
        session.off('readable', remove)
        session.off('close', remove)
        session.off('error', remove)
      },
    }
    return idle
  }
}
