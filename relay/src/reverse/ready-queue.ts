// The reverse sessions of one lease that wait for a visitor, and the visitors that wait for a session.

import type { Duplex } from 'node:stream'
import { CLAIM_TIMEOUT_MS, READY_SESSIONS_MAX } from '@svc/protocol'
import { WAITING_CLAIMS_MAX } from '../limits.ts'
import { keepAlive } from './keepalives.ts'
import type { Place } from './place.ts'

interface Idle {
  session: Duplex
  /** Stops watching it. */
  release: () => void
}

/** A session of this process, or a process that has one. */
export type Claimed = Duplex | Place

type Waiter = (claimed: Claimed | undefined) => void

export class ReadyQueue {
  readonly #idle: Idle[] = []
  readonly #waiting = new Set<Waiter>()
  /** How many sessions wait in other processes, as far as is known here. */
  readonly #elsewhere = new Map<Place, number>()
  #waitingRoom: Place | undefined
  #onChange: (() => void) | undefined
  #closed = false

  /** In all processes that are known of here. */
  get size(): number {
    let size = this.#idle.length
    for (const count of this.#elsewhere.values()) size += count
    return size
  }

  /** Whether {@link offer} would take another session. */
  get hasRoom(): boolean {
    return !this.#closed && (this.#waiting.size > 0 || this.#idle.length < READY_SESSIONS_MAX)
  }

  /** Whether {@link claim} would have to wait, here. */
  get isEmpty(): boolean {
    return this.#waitingRoom === undefined && this.size === 0
  }

  /** Visitors without a session wait in another process from now on, which knows of all sessions. */
  waitIn(place: Place): void {
    this.#waitingRoom = place
  }

  /** @param listener is called when the number of this process's own sessions has changed */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Takes over a session until it is claimed. @returns false when there is no room: the session stays the caller's */
  offer(session: Duplex): boolean {
    if (!this.hasRoom || session.destroyed) return false
    const [waiter] = this.#waiting
    if (waiter !== undefined) waiter(session)
    else {
      this.#idle.push(this.#watch(session))
      this.#onChange?.()
    }
    return true
  }

  /** So many sessions wait at `place` now: for the visitors that wait here first. */
  report(place: Place, count: number): void {
    let left = count
    for (const waiter of this.#waiting) {
      if (left === 0) break
      left -= 1
      waiter(place)
    }
    if (left > 0) this.#elsewhere.set(place, left)
    else this.#elsewhere.delete(place)
  }

  /**
   * The youngest session of this process, else a process with one, else the next to come. The youngest is the least
   * likely to be dead, and the least likely to be given up by its owner at this moment: that one gives up its oldest.
   * @returns undefined when none came in time
   */
  async claim(gone: AbortSignal, timeoutMs: number = CLAIM_TIMEOUT_MS): Promise<Claimed | undefined> {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      idle.release()
      this.#onChange?.()
      return idle.session
    }
    if (this.#closed || gone.aborted) return undefined
    const place = this.#takeElsewhere() ?? this.#waitingRoom
    if (place !== undefined) return place
    if (this.#waiting.size >= WAITING_CLAIMS_MAX) return undefined
    return await new Promise((resolve) => {
      const settle: Waiter = (claimed) => {
        this.#waiting.delete(settle)
        clearTimeout(timeout)
        gone.removeEventListener('abort', giveUp)
        resolve(claimed)
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
    this.#elsewhere.clear()
    this.#onChange?.()
    for (const waiter of this.#waiting) waiter(undefined)
  }

  /** The process with the most: it is the least likely to have given its last one away meanwhile. */
  #takeElsewhere(): Place | undefined {
    let best: Place | undefined
    let most = 0
    for (const [place, count] of this.#elsewhere)
      if (count > most) {
        best = place
        most = count
      }
    if (best !== undefined) this.report(best, most - 1)
    return best
  }

  #watch(session: Duplex): Idle {
    const remove = () => {
      const index = this.#idle.indexOf(idle)
      if (index >= 0) this.#idle.splice(index, 1)
      idle.release()
      session.destroy()
      this.#onChange?.()
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
