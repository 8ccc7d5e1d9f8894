// A ready session for a visitor, counted; and who waits for one, and for how long.

import { Duplex } from 'node:stream'
import { CLAIM_TIMEOUT_MS } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import { CARRIER_QUIET_MS, SOURCE_SHARE_WAIT_MS } from '../limits.ts'
import type { Tally } from '../metrics/relay-counters.ts'
import type { Arrival } from '../reverse/pending-visitor.ts'
import type { Claimed, ReadyQueue } from '../reverse/ready-queue.ts'
import { SourceShares } from './client-shares.ts'
import { LostSessions } from './lost-sessions.ts'

export class SessionClaims {
  readonly #tally: Tally
  readonly #shares = new SourceShares()
  readonly #lost = new LostSessions()
  readonly #makeRoomElsewhere: (lease: Lease) => void

  /** @param makeRoomElsewhere called when a visitor has to wait, and no source has more than its share in this process */
  constructor(tally: Tally, makeRoomElsewhere: (lease: Lease) => void = () => {}) {
    this.#tally = tally
    this.#makeRoomElsewhere = makeRoomElsewhere
  }

  /**
   * The visitor is gone from here afterwards when another process has the session. Only the first session of a visitor is
   * waited for: one who has lost a session gets another only when that was ready before the visitor came, so that no
   * visitor can use up sessions as fast as a site opens them.
   * @returns undefined when none came in time, or the visitor is gone
   */
  async claim(arrival: Arrival, gone: AbortSignal): Promise<Duplex | 'elsewhere' | undefined> {
    const { lease, cameAt, sessionsLost, from } = arrival
    if (this.#lost.areTooMany(arrival)) return undefined
    const claimed =
      sessionsLost === 0 ? await this.#claimFirst(arrival, gone) : lease.ready.claimAgain(gone, cameAt, from)
    if (claimed instanceof Duplex) {
      this.#tally.activations += 1
      this.#shares.enter(arrival)
      return claimed
    }
    if (claimed !== undefined) {
      claimed.handOver(arrival)
      return 'elsewhere'
    }
    if (!gone.aborted) this.#tally.claimsFailed += 1
    return undefined
  }

  /** The session of the visitor broke before it answered, and the visitor is still there. */
  sessionLost(arrival: Arrival): void {
    this.#lost.count(arrival)
    this.#tally.sessionsLost += 1
  }

  /** Whether the visitor comes from a source that has its share of the lease's visitors. */
  isLast({ lease, network }: Pick<Arrival, 'lease' | 'network'>): boolean {
    return this.#shares.isUsedUp(lease, network)
  }

  /** Closes one visitor of a source that has more than its share. @returns false when there is no such source */
  makeRoom(lease: Lease): boolean {
    const isMade = this.#shares.makeRoom(lease)
    if (isMade) this.#tally.visitorsDisplaced += 1
    return isMade
  }

  async #claimFirst(arrival: Arrival, gone: AbortSignal): Promise<Claimed | undefined> {
    const { lease, network, cameAt } = arrival
    const { ready } = lease
    const leftMs = cameAt + CLAIM_TIMEOUT_MS - performance.now()
    if (!ready.isEmpty) return await ready.claim(gone, leftMs)
    this.#tally.claimsWaited += 1
    const isLast = arrival.isLast || this.isLast(arrival)
    const making = isLast ? undefined : this.#keepMakingRoom(arrival)
    const silent = new AbortController()
    const looking = setTimeout(() => void abortIfSilent(ready, silent), CARRIER_QUIET_MS)
    const claimed = await ready.claim(AbortSignal.any([gone, silent.signal]), leftMs, { network, isLast })
    clearInterval(making)
    clearTimeout(looking)
    return claimed
  }

  /**
   * A site that is merely busy has another session ready long before. A source that sends all its visitors at once has its
   * share only after they have come: it displaces nobody from then on, least of all its own.
   */
  #keepMakingRoom(arrival: Arrival): NodeJS.Timeout {
    const { lease } = arrival
    this.#shares.look(lease)
    return setInterval(() => {
      if (this.isLast(arrival)) return
      if (!this.makeRoom(lease)) this.#makeRoomElsewhere(lease)
    }, SOURCE_SHARE_WAIT_MS)
  }
}

/** Nobody is there to open a session: a visitor need not wait for one. */
async function abortIfSilent(ready: ReadyQueue, silent: AbortController): Promise<void> {
  await ready.look()
  if (ready.isSilent) silent.abort()
}
