// The reverse sessions of one lease that wait for a visitor, and the visitors that wait for a session.

import type { Duplex } from 'node:stream'
import { CLAIM_TIMEOUT_MS, READY_SESSIONS_MAX } from '@svc/protocol'
import { WAITING_CLAIMS_MAX } from '../limits.ts'
import { keepAlive } from './keepalives.ts'

interface Idle {
  session: Duplex
  /** Stops watching it. */
  release: () => void
}

type Waiter = (session: Duplex | undefined) => void

export class ReadyQueue {
  readonly #idle: Idle[] = []
  readonly #waiting = new Set<Waiter>()
  #closed = false

  get size(): number {
    return this.#idle.length
  }

  /** Whether {@link offer} would take another session. */
  get hasRoom(): boolean {
    return !this.#closed && (this.#waiting.size > 0 || this.#idle.length < READY_SESSIONS_MAX)
  }

  /** Takes over a session until it is claimed. @returns false when there is no room: the session stays the caller's */
  offer(session: Duplex): boolean {
    if (!this.hasRoom || session.destroyed) return false
    const [waiter] = this.#waiting
    if (waiter !== undefined) waiter(session)
    else this.#idle.push(this.#watch(session))
    return true
  }

  /**
   * The youngest session, else the next to come. The youngest is the least likely to be dead, and the least likely to be
   * given up by its owner at this moment: that one gives up its oldest.
   * @returns undefined when none came in time
   */
  async claim(gone: AbortSignal, timeoutMs: number = CLAIM_TIMEOUT_MS): Promise<Duplex | undefined> {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      idle.release()
      return idle.session
    }
    if (this.#closed || gone.aborted || this.#waiting.size >= WAITING_CLAIMS_MAX) return undefined
    return await new Promise((resolve) => {
      const settle: Waiter = (session) => {
        this.#waiting.delete(settle)
        clearTimeout(timeout)
        gone.removeEventListener('abort', giveUp)
        resolve(session)
      }
      const giveUp = () => settle(undefined)
      const timeout = setTimeout(giveUp, timeoutMs)
      gone.addEventListener('abort', giveUp)
      this.#waiting.add(settle)
    })
  }

  /** Takes no more sessions, and lets go of all. */
  close(): void {
    this.#closed = true
    this.clear()
  }

  /** Drops the idle sessions and turns the waiting visitors away. */
  clear(): void {
    for (const { session, release } of this.#idle.splice(0)) {
      release()
      session.destroy()
    }
    for (const waiter of this.#waiting) waiter(undefined)
  }

  #watch(session: Duplex): Idle {
    const remove = () => {
      const index = this.#idle.indexOf(idle)
      if (index >= 0) this.#idle.splice(index, 1)
      idle.release()
      session.destroy()
    }
    // Until its marker an SDK has nothing to say: bytes or an end before that are a fault or a farewell.
    session.on('readable', remove)
    session.on('close', remove)
    session.on('error', remove)
    const stopKeepalives = keepAlive(session)
    const idle: Idle = {
      session,
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
