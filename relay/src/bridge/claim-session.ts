// A ready session for a visitor, counted; and who waits for one, and for how long.

import { Duplex } from 'node:stream'
import { CLAIM_TIMEOUT_MS } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import { CARRIER_PROBE_AFTER_MS, DISPLACE_VISITOR_AFTER_MS } from '../limits.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import type { ClaimedSession, ReadyQueue } from '../reverse/ready-queue.ts'
import { ClientShares } from './client-shares.ts'
import { LostSessions } from './lost-sessions.ts'

export class SessionClaimer {
  readonly #counters: RelayCounters
  readonly #shares = new ClientShares()
  readonly #lost = new LostSessions()
  readonly #makeRoomInPeers: (lease: Lease) => void

  /** @param makeRoomElsewhere called when a visitor has to wait, and no source has more than its share in this process */
  constructor(counters: RelayCounters, makeRoomInPeers: (lease: Lease) => void = () => {}) {
    this.#counters = counters
    this.#makeRoomInPeers = makeRoomInPeers
  }

  /**
   * The visitor is gone from here afterwards when another process has the session. Only the first session of a visitor is
   * waited for: one who has lost a session gets another only when that was ready before the visitor came, so that no
   * visitor can use up sessions as fast as a site opens them.
   * @returns undefined when none came in time, or the visitor is gone
   */
  async claim(pending: PendingVisitor, disconnected: AbortSignal): Promise<Duplex | 'elsewhere' | undefined> {
    const { lease, arrivedAt, sessionsLost, handedOverBy } = pending
    if (this.#lost.isLimitReached(pending)) return undefined
    const claimed =
      sessionsLost === 0
        ? await this.#claimFirst(pending, disconnected)
        : lease.ready.claimAgain(disconnected, arrivedAt, handedOverBy)
    if (claimed instanceof Duplex) {
      this.#counters.activations += 1
      this.#shares.add(pending)
      return claimed
    }
    if (claimed !== undefined) {
      claimed.handOver(pending)
      return 'elsewhere'
    }
    if (!disconnected.aborted) this.#counters.claimsFailed += 1
    return undefined
  }

  /** The session of the visitor broke before it answered, and the visitor is still there. */
  sessionLost(pending: PendingVisitor): void {
    this.#lost.count(pending)
    this.#counters.sessionsLost += 1
  }

  /** Whether the visitor comes from a source that has its share of the lease's visitors. */
  isLowPriority({ lease, network }: Pick<PendingVisitor, 'lease' | 'network'>): boolean {
    return this.#shares.isUsedUp(lease, network)
  }

  /** Closes one visitor of a source that has more than its share. @returns false when there is no such source */
  makeRoom(lease: Lease): boolean {
    const isMade = this.#shares.makeRoom(lease)
    if (isMade) this.#counters.visitorsDisplaced += 1
    return isMade
  }

  async #claimFirst(pending: PendingVisitor, disconnected: AbortSignal): Promise<ClaimedSession | undefined> {
    const { lease, network, arrivedAt } = pending
    const { ready } = lease
    const remainingMs = arrivedAt + CLAIM_TIMEOUT_MS - performance.now()
    if (!ready.isEmpty) return await ready.claim(disconnected, remainingMs)
    this.#counters.claimsWaited += 1
    const isLowPriority = pending.isLowPriority || this.isLowPriority(pending)
    const displacing = isLowPriority ? undefined : this.#keepMakingRoom(pending)
    const silent = new AbortController()
    const silenceProbe = setTimeout(() => void abortIfSilent(ready, silent), CARRIER_PROBE_AFTER_MS)
    const claimed = await ready.claim(AbortSignal.any([disconnected, silent.signal]), remainingMs, {
      network,
      isLowPriority,
    })
    clearInterval(displacing)
    clearTimeout(silenceProbe)
    return claimed
  }

  /**
   * A site that is merely busy has another session ready long before. A source that sends all its visitors at once has its
   * share only after they have come: it displaces nobody from then on, least of all its own.
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

/** Nobody is there to open a session: a visitor need not wait for one. */
async function abortIfSilent(ready: ReadyQueue, silent: AbortController): Promise<void> {
  await ready.probeCarriers()
  if (ready.isSilent) silent.abort()
}
