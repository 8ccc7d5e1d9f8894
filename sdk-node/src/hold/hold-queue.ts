// The requests that wait for one target, in the order in which they came in whole. Each is delivered once, after the one before.

import type { DirectExchange, DirectResponse } from '@svc/sdk-core'
import { isNobody } from '../target/target-hint.ts'
import type { Held, HeldTarget } from './held.ts'
import { DELIVERY_MAX_MS, RETRY_MS, UNREAD_ANSWER_MAX_BYTES } from './limits.ts'

interface QueueOptions {
  keptMs: number
  /** True when the visitors wait for the answers. */
  waits: boolean
  /** Called once for each request that was added, unless its visitor left. */
  ended(held: Held, state: 'delivered' | 'lost', status: number | undefined): void
}

export class HoldQueue {
  readonly #target: HeldTarget
  readonly #options: QueueOptions
  #waiting: Held[] = []
  readonly #until = new WeakMap<Held, number>()
  /** The one that is being delivered, which is the first. */
  #current: { held: Held; exchange: DirectExchange } | undefined
  #isRunning = false
  #isClosed = false
  #wake: (() => void) | undefined

  constructor(target: HeldTarget, options: QueueOptions) {
    this.#target = target
    this.#options = options
  }

  /** True while requests have to wait for others. */
  get isBusy(): boolean {
    return this.#waiting.length > 0
  }

  get length(): number {
    return this.#waiting.length
  }

  /** @returns the number of those that wait now */
  add(held: Held): number {
    this.#until.set(held, performance.now() + this.#options.keptMs)
    this.#waiting.push(held)
    if (!this.#isRunning) void this.#run()
    return this.#waiting.length
  }

  /** Drops a request whose visitor left. */
  leave(held: Held, reason: unknown): void {
    if (this.#current?.held === held) this.#current.exchange.cancel(reason)
    this.#drop(held, reason)
  }

  #drop(held: Held, reason: unknown): void {
    const at = this.#waiting.indexOf(held)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    held.release()
    held.answer.reject(reason)
  }

  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    try {
      while (this.isBusy) {
        this.#dropOld()
        const [held] = this.#waiting
        if (held && !(await this.#isDelivered(held))) await this.#pause()
      }
    } finally {
      this.#isRunning = false
    }
  }

  /** Drops those whose time is over, and all when the site has ended. */
  #dropOld(): void {
    const now = performance.now()
    const lost = this.#waiting.filter((held) => this.#isClosed || this.#until.get(held)! <= now)
    this.#waiting = this.#waiting.filter((held) => !lost.includes(held))
    for (const held of lost) {
      held.answer.resolve(undefined)
      this.#options.ended(held, 'lost', undefined)
    }
  }

  /** @returns false when the target is still down, so that nothing was sent */
  async #isDelivered(held: Held): Promise<boolean> {
    const exchange = this.#target.deliver(held.request)!
    this.#current = { held, exchange }
    const late = setTimeout(() => exchange.cancel(new Error('no answer in time')), DELIVERY_MAX_MS).unref()
    const response = await exchange.respond().catch(() => undefined)
    clearTimeout(late)
    this.#current = undefined
    const cause = response && this.#target.causeOf(response)
    if (this.#waiting[0] !== held) return true // Its visitor has left.
    if (cause !== undefined && isNobody(cause)) return false
    this.#waiting.shift()
    this.#options.ended(held, 'delivered', cause === undefined ? response?.status : undefined)
    held.answer.resolve(response)
    if (response && !this.#options.waits) void drained(response)
    return true
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, RETRY_MS).unref()
    await promise
    clearTimeout(timer)
  }
}

/** Reads an answer that nobody waits for: a target may take a cut connection for a reason to stop. */
async function drained(response: DirectResponse): Promise<void> {
  const late = setTimeout(() => response.cancel(new Error('the answer has no end')), DELIVERY_MAX_MS).unref()
  try {
    for (let left = UNREAD_ANSWER_MAX_BYTES; left > 0; ) {
      const { size, done } = await response.next()
      if (done) return
      left -= size
    }
    response.cancel(new Error('the answer is too long'))
  } catch {
    // The request was delivered: nobody misses the rest of the answer.
  } finally {
    clearTimeout(late)
  }
}
