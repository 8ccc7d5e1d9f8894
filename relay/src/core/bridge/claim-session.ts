// Claims a ready session for a visitor, and decides which visitors wait, and for how long.

import { Duplex } from 'node:stream'
import { CLAIM_TIMEOUT_MS } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { ClaimedSession, HandOverOutcome, PendingVisitor } from '../reverse/pending-visitor.ts'
import type { ReadyQueue } from '../reverse/ready-queue.ts'
import { readyQueueOf } from '../reverse/ready-queues.ts'
import { ClientShares } from './client-shares.ts'
import { LostSessions } from './lost-sessions.ts'

/**
 * Each time a visitor has waited this long, the relay closes a visitor of a network that has more than its share.
 */
export const DISPLACE_VISITOR_AFTER_MS = 1_000
/**
 * Retries for a visitor that the machine with the session did not take over. The relay asks such a machine again after
 * a second, so the retries last about as long as `ClaimTimeout`.
 */
export const HAND_OVER_RETRIES_MAX = 10
/** When a visitor has had no answer for this long, the relay pings the client's carrier. */
export const CARRIER_PROBE_AFTER_MS = 500

export class SessionClaimer {
  readonly #counters: RelayCounters
  readonly #shares = new ClientShares()
  readonly #lost = new LostSessions()
  readonly #makeRoomInPeers: (lease: Lease) => void

  /** @param makeRoomInPeers called when a visitor has to wait and no network has more than its share in this process */
  constructor(counters: RelayCounters, makeRoomInPeers: (lease: Lease) => void = () => {}) {
    this.#counters = counters
    this.#makeRoomInPeers = makeRoomInPeers
  }

  /**
   * Claims a session, and waits only for a visitor's first one. A visitor whose session broke gets another only if it
   * was ready before the visitor came, so that no visitor uses up sessions as fast as a site opens them.
   * @returns the outcome when the visitor was handed over to a peer; undefined when no session came in time, or the
   *   visitor disconnected
   */
  async claim(
    pending: PendingVisitor,
    disconnected: AbortSignal,
  ): Promise<Duplex | HandOverOutcome | undefined> {
    const { lease, arrivedAt, sessionsLost, handedOverBy } = pending
    if (this.#lost.isLimitReached(pending)) return undefined
    const claimed =
      sessionsLost === 0
        ? await this.#claimFirst(pending, disconnected)
        : readyQueueOf(lease).claimAgain(disconnected, arrivedAt, handedOverBy)
    if (claimed instanceof Duplex) {
      this.#counters.activations += 1
      this.#shares.add(pending)
      return claimed
    }
    if (claimed !== undefined) return await claimed.handOver(pending)
    if (!disconnected.aborted) this.#counters.claimsFailed += 1
    return undefined
  }

  /** Counts a session that broke before it answered, while its visitor was still connected. */
  sessionLost(pending: PendingVisitor): void {
    this.#lost.count(pending)
    this.#counters.sessionsLost += 1
  }

  /** Whether the visitor's network has reached its share of the lease's visitors. */
  isLowPriority({ lease, network }: Pick<PendingVisitor, 'lease' | 'network'>): boolean {
    return this.#shares.isUsedUp(lease, network)
  }

  /** Closes one visitor of a network that has more than its share. @returns false when there is no such network */
  makeRoom(lease: Lease): boolean {
    const isMade = this.#shares.makeRoom(lease)
    if (isMade) this.#counters.visitorsDisplaced += 1
    return isMade
  }

  async #claimFirst(pending: PendingVisitor, disconnected: AbortSignal): Promise<ClaimedSession | undefined> {
    const { lease, network, arrivedAt } = pending
    const ready = readyQueueOf(lease)
    const remainingMs = arrivedAt + CLAIM_TIMEOUT_MS - performance.now()
    if (!ready.isEmptyFor(pending)) return await ready.claim(disconnected, remainingMs, pending)
    this.#counters.claimsWaited += 1
    const isLowPriority = pending.isLowPriority || this.isLowPriority(pending)
    const displacing = isLowPriority ? undefined : this.#keepMakingRoom(pending)
    const silent = new AbortController()
    const silenceProbe = setTimeout(() => void abortIfSilent(ready, silent), CARRIER_PROBE_AFTER_MS)
    const claimed = await ready.claim(AbortSignal.any([disconnected, silent.signal]), remainingMs, {
      ...pending,
      network,
      isLowPriority,
    })
    clearInterval(displacing)
    clearTimeout(silenceProbe)
    return claimed
  }

  /**
   * Makes room repeatedly while the visitor waits. A site that is merely busy has a session ready long before. A
   * network that sends all its visitors at once reaches its share with them, and displaces nobody from then on.
   */
  #keepMakingRoom(pending: PendingVisitor): NodeJS.Timeout {
    const { lease } = pending
    this.#shares.recordActivity(lease)
    return setInterval(() => {
      if (this.isLowPriority(pending)) return
      if (!this.makeRoom(lease)) this.#makeRoomInPeers(lease)
    }, DISPLACE_VISITOR_AFTER_MS)
  }
}

/** Aborts when every WebSocket is silent, since then no page can open a session. */
async function abortIfSilent(ready: ReadyQueue, silent: AbortController): Promise<void> {
  await ready.probeCarriers()
  if (ready.isSilent) silent.abort()
}
