// The requests that wait for one target. They are sent in the order in which they came in whole, each once, after the answer to the
// one before. A network whose request the target answers slowly waits apart from then on, so that it does not hold up the others.

import type { DirectExchange, DirectResponse } from '@svc/sdk-core'
import { networkKey } from '@svc/sdk-core/webhooks'
import { isNobody } from '../target/target-hint.ts'
import type { Held, HeldTarget } from './held.ts'
import { DELIVERY_MAX_MS, RETRY_MS, SLOW_MS, UNREAD_ANSWER_MAX_BYTES } from './limits.ts'

interface QueueOptions {
  keptMs: number
  /** True when the visitors wait for the answers. */
  waits: boolean
  /** Called once for each request that was added, unless its visitor left. */
  ended(held: Held, state: 'delivered' | 'lost', status: number | undefined): void
}

/** The outcome of a delivery; undefined when the target is still down, so that nothing was sent. */
type Outcome = { response: DirectResponse | undefined; status: number | undefined } | undefined

const SLOW: unique symbol = Symbol('slow')

export class HoldQueue {
  readonly #target: HeldTarget
  readonly #options: QueueOptions
  readonly #main: Lane
  /** Those of networks that wait apart. */
  readonly #apart = new Map<string, Lane>()
  readonly #exchanges = new WeakMap<Held, DirectExchange>()
  readonly #until = new WeakMap<Held, number>()
  #isClosed = false

  constructor(target: HeldTarget, options: QueueOptions) {
    this.#target = target
    this.#options = options
    this.#main = new Lane(this, true)
  }

  /** Returns whether a request has to wait for others. */
  isBusyFor({ remote }: Pick<Held['request'], 'remote'>): boolean {
    return this.#main.isBusy || this.#apart.has(networkKey(remote))
  }

  get length(): number {
    return this.#lanes.reduce((total, { waiting }) => total + waiting.length, 0)
  }

  get #lanes(): Lane[] {
    return [this.#main, ...this.#apart.values()]
  }

  /** @returns the number of those that wait now */
  add(held: Held): number {
    this.#until.set(held, performance.now() + this.#options.keptMs)
    const lane = this.#apart.get(networkKey(held.request.remote)) ?? this.#main
    lane.add([held])
    return this.length
  }

  /** Drops a request whose visitor left. */
  leave(held: Held, reason: unknown): void {
    this.#exchanges.get(held)?.cancel(reason)
    const lane = this.#lanes.find(({ waiting }) => waiting.includes(held))
    if (!lane) return
    lane.remove([held])
    held.release()
    held.answer.reject(reason)
  }

  close(): void {
    this.#isClosed = true
    for (const lane of this.#lanes) lane.wake()
  }

  isOver(held: Held): boolean {
    return this.#isClosed || this.#until.get(held)! <= performance.now()
  }

  lost(held: Held): void {
    held.answer.resolve(undefined)
    this.#options.ended(held, 'lost', undefined)
  }

  delivered(held: Held, { response, status }: NonNullable<Outcome>): void {
    this.#options.ended(held, 'delivered', status)
    held.answer.resolve(response)
    if (response && !this.#options.waits) void drained(response)
  }

  async deliver(held: Held): Promise<Outcome> {
    const exchange = this.#target.deliver(held.request)!
    this.#exchanges.set(held, exchange)
    const late = setTimeout(() => exchange.cancel(new Error('no answer in time')), DELIVERY_MAX_MS).unref()
    const response = await exchange.respond().catch(() => undefined)
    clearTimeout(late)
    this.#exchanges.delete(held)
    const cause = response && this.#target.causeOf(response)
    if (cause !== undefined && isNobody(cause)) return undefined
    return { response, status: cause === undefined ? response?.status : undefined }
  }

  /** Lets the network of a slow request wait apart, with that one first. */
  separate(held: Held, delivering: Promise<Outcome>): void {
    const key = networkKey(held.request.remote)
    const theirs = this.#main.waiting.filter(({ request }) => networkKey(request.remote) === key)
    this.#main.remove(theirs)
    const lane = new Lane(this, false, delivering)
    this.#apart.set(key, lane)
    lane.add(theirs)
    void lane.over.then(() => this.#apart.delete(key))
  }
}

/** Requests that wait for each other. */
class Lane {
  waiting: Held[] = []
  /** Resolves when a lane apart has no more. */
  readonly over: Promise<void>
  readonly #over = Promise.withResolvers<void>()
  readonly #queue: HoldQueue
  readonly #isMain: boolean
  /** The delivery of the first one, when that has begun elsewhere. */
  #begun: Promise<Outcome> | undefined
  #isRunning = false
  #wake: (() => void) | undefined

  constructor(queue: HoldQueue, isMain: boolean, begun?: Promise<Outcome>) {
    this.#queue = queue
    this.#isMain = isMain
    this.#begun = begun
    this.over = this.#over.promise
  }

  get isBusy(): boolean {
    return this.waiting.length > 0
  }

  add(held: readonly Held[]): void {
    this.waiting.push(...held)
    if (!this.#isRunning) void this.#run()
  }

  remove(gone: readonly Held[]): void {
    this.waiting = this.waiting.filter((held) => !gone.includes(held))
  }

  wake(): void {
    this.#wake?.()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.isBusy) {
      if (!this.#begun) this.#dropOld()
      const [held] = this.waiting
      if (held) await this.#next(held)
    }
    this.#isRunning = false
    this.#over.resolve()
  }

  async #next(held: Held): Promise<void> {
    const delivering = this.#begun ?? this.#queue.deliver(held)
    this.#begun = undefined
    const outcome = this.#isMain ? await unlessSlow(delivering) : await delivering
    if (outcome === SLOW) return this.#queue.separate(held, delivering)
    if (this.waiting[0] !== held) return // Its visitor has left.
    if (!outcome) return this.#pause()
    this.waiting.shift()
    this.#queue.delivered(held, outcome)
  }

  /** Drops those whose time is over, and all when the site has ended. */
  #dropOld(): void {
    const lost = this.waiting.filter((held) => this.#queue.isOver(held))
    this.remove(lost)
    for (const held of lost) this.#queue.lost(held)
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, RETRY_MS).unref()
    await promise
    clearTimeout(timer)
  }
}

async function unlessSlow(delivering: Promise<Outcome>): Promise<Outcome | typeof SLOW> {
  const { promise, resolve } = Promise.withResolvers<typeof SLOW>()
  const timer = setTimeout(() => resolve(SLOW), SLOW_MS).unref()
  try {
    return await Promise.race([delivering, promise])
  } finally {
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
