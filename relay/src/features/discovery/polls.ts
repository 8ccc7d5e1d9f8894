// Chooses which bootstrap relay or known one to ask next: each at most once in an interval, a few at once.

import { now } from '../../core/clock.ts'
import {
  EARLY_PAUSE_MIN_MS,
  EARLY_PAUSE_PER_RELAY_MS,
  POLL_BACKOFF_MAX,
  POLL_JITTER,
  POLL_TICKS,
  POLLS_PARALLEL_MAX,
  POLLS_PER_INTERVAL_MAX,
} from './limits.ts'

interface Turn {
  /** The time at which the relay was asked last, in relay time; undefined when it was never asked. */
  askedAt: number | undefined
  /** The time at which it is asked next, in relay time. */
  nextAt: number
  failures: number
  isRunning: boolean
}

export interface PollsParts {
  /** Interval in milliseconds. */
  pollMs: number
  /** Time after the start during which relays are asked more often, in milliseconds. */
  earlyMs: number
  /** Origins of the relays to ask. */
  targets: () => Iterable<string>
  /** Asks one relay. Resolves with whether it answered; never rejects. */
  ask: (origin: string) => Promise<boolean>
  /** Whether a relay that answers is asked again early in the first minute, as one that does not answer always is. */
  isAskedEarly: (origin: string) => boolean
}

export class Polls {
  readonly #parts: PollsParts
  readonly #turns = new Map<string, Turn>()
  #startedAt = Number.NEGATIVE_INFINITY
  #running = 0
  #timer: NodeJS.Timeout | undefined

  constructor(parts: PollsParts) {
    this.#parts = parts
  }

  /** Number of relays to ask. */
  get size(): number {
    return this.#turns.size
  }

  /** True in the first minute, in which relays that started together may still come. */
  get isEarly(): boolean {
    return now() - this.#startedAt < this.#parts.earlyMs
  }

  start(): void {
    this.#startedAt = now()
    this.#timer = setInterval(() => this.#tick(), this.#parts.pollMs / POLL_TICKS).unref()
    this.#tick()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Records that a relay was just asked, for another reason. */
  asked(origin: string): void {
    this.#turns.set(origin, this.#after(origin, { askedAt: now(), nextAt: 0, failures: 0, isRunning: false }))
  }

  /** Asks a relay that did not answer, but has announced itself again, as soon as it is allowed. */
  soon(origin: string): void {
    const turn = this.#turns.get(origin)
    if (turn?.askedAt !== undefined && turn.failures > 0)
      turn.nextAt = Math.min(turn.nextAt, turn.askedAt + this.#parts.pollMs)
  }

  #tick(): void {
    this.#follow()
    const due = [...this.#turns].filter(([, { isRunning, nextAt }]) => !isRunning && nextAt <= now())
    due.sort(([, one], [, other]) => one.nextAt - other.nextAt)
    for (const [origin, turn] of due.slice(0, POLLS_PARALLEL_MAX - this.#running))
      void this.#ask(origin, turn)
  }

  /** Adds new targets, which are asked at once, and removes old ones. */
  #follow(): void {
    const targets = new Set(this.#parts.targets())
    for (const origin of this.#turns.keys()) if (!targets.has(origin)) this.#turns.delete(origin)
    for (const origin of targets) {
      if (!this.#turns.has(origin))
        this.#turns.set(origin, { askedAt: undefined, nextAt: now(), failures: 0, isRunning: false })
    }
  }

  async #ask(origin: string, turn: Turn): Promise<void> {
    this.#running += 1
    turn.isRunning = true
    turn.askedAt = now()
    const hasAnswered = await this.#parts.ask(origin)
    this.#running -= 1
    turn.isRunning = false
    // Early failures count as one: the relay may still be starting.
    turn.failures = hasAnswered ? 0 : this.isEarly ? 1 : turn.failures + 1
    this.#after(origin, turn)
  }

  #after(origin: string, turn: Turn): Turn {
    const { pollMs } = this.#parts
    const interval = Math.max(pollMs, (this.#turns.size * pollMs) / POLLS_PER_INTERVAL_MAX)
    const pause = interval * Math.min(2 ** turn.failures, POLL_BACKOFF_MAX)
    const soonest = Math.min(pause, this.#earlyPause(origin, turn))
    turn.nextAt = (turn.askedAt ?? now()) + soonest * (1 + POLL_JITTER * Math.random())
    return turn
  }

  /** In the first minute the pause equals the time since the start, and so doubles each time. */
  #earlyPause(origin: string, { failures }: Turn): number {
    if (!this.isEarly || (failures === 0 && !this.#parts.isAskedEarly(origin)))
      return Number.POSITIVE_INFINITY
    const sinceStart = now() - this.#startedAt
    return Math.max(EARLY_PAUSE_MIN_MS, this.#turns.size * EARLY_PAUSE_PER_RELAY_MS, sinceStart)
  }
}
