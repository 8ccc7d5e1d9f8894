// Keeps requests while nothing listens at a target, and delivers them in order when something does.

import { type DirectExchange, type DirectRequest, type DirectResponse, isGrpc, SvcError } from '@svc/sdk-core'
import { Room } from '@svc/sdk-core/webhooks'
import { lineOrPageResponse, textResponse } from '../target/bad-gateway.ts'
import { isNobody } from '../target/target-hint.ts'
import { readWhole } from './body.ts'
import type { Held, HeldTarget, HoldBefore } from './held.ts'
import { HoldQueue } from './hold-queue.ts'
import { HELD_MAX, HELD_MAX_BYTES, HELD_SHARE, HELD_SHARE_BYTES, RETRY_AFTER_S } from './limits.ts'
import { type CheckedHold, checkHold, type HoldOptions } from './options.ts'

/** A HoldReport says what happened to a request that was kept. */
export interface HoldReport {
  /** `lost`: its time is over, or the site ends. `refused`: it did not fit, and its visitor got 503. */
  state: 'kept' | 'delivered' | 'lost' | 'refused'
  method: string
  /** The path without its query, which may contain secrets of the visitor. */
  path: string
  /** The target's status, of a delivered one. Undefined when the target did not answer. */
  status?: number | undefined
  /** The number of requests that are still kept. */
  waiting: number
}

const UNSAFE: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

const KEPT = 'Kept: it is delivered when the server behind this site is back\n'
const DOWN = 'The server behind this site is down'

export class Hold {
  readonly #options: CheckedHold
  readonly #bytes = new Room(HELD_MAX_BYTES, HELD_SHARE_BYTES)
  readonly #places = new Room(HELD_MAX, HELD_SHARE)
  readonly #queues: HoldQueue[] = []
  readonly #report: (report: HoldReport) => void
  readonly #onError: (error: SvcError) => void

  /** @throws SvcError `invalid_option` */
  constructor(
    options: HoldOptions,
    report: (report: HoldReport) => void,
    onError: (error: SvcError) => void,
  ) {
    this.#options = checkHold(options)
    this.#report = report
    this.#onError = onError
  }

  /** Returns the way to a target by which requests are kept. */
  readonly before: HoldBefore = (target) => {
    const queue = new HoldQueue(target, {
      keptMs: this.#options.keptMs,
      waits: this.#options.waits,
      ended: (held, state, status) => this.#ended(held, state, status),
    })
    this.#queues.push(queue)
    return (request) => {
      const exchange = target.ask(request)
      return exchange && new HoldingExchange(request, exchange, { target, queue, hold: this })
    }
  }

  /** Ends it: what is kept is lost. */
  close(): void {
    for (const queue of this.#queues) queue.close()
  }

  get waits(): boolean {
    return this.#options.waits
  }

  /**
   * Reads the request to its end. Resolves with undefined when there is no room for it.
   * @throws the error of the body
   */
  async take(request: DirectRequest): Promise<Held | undefined> {
    const { remote } = request
    if (!this.#places.take(remote, 1)) return undefined
    const read = await readWhole(request, this.#bytes).catch((error) => {
      this.#places.release(remote, 1)
      throw error
    })
    if (!read) {
      this.#places.release(remote, 1)
      return undefined
    }
    const { parts, bytes } = read
    const release = (): void => {
      this.#bytes.release(remote, bytes)
      this.#places.release(remote, 1)
    }
    return { request: withParts(request, parts, this.waits), release, answer: Promise.withResolvers() }
  }

  kept(held: Held, waiting: number): void {
    this.#tell(held, 'kept', waiting)
  }

  refused(request: DirectRequest): void {
    this.#tell({ request }, 'refused', this.#waiting)
  }

  #ended(held: Held, state: 'delivered' | 'lost', status: number | undefined): void {
    held.release()
    this.#tell(held, state, this.#waiting, status)
    if (state === 'delivered' && status !== undefined) return
    const { method, url } = held.request
    const what =
      state === 'lost'
        ? `was kept, and is lost: the target was not back in ${this.#options.kept}, or the site has ended`
        : 'was delivered from what was kept, and the target did not answer: it is not sent again, because it may have been handled'
    this.#onError(new SvcError('target_unreachable', `${method} ${url.pathname} ${what}`))
  }

  #tell(
    { request }: Pick<Held, 'request'>,
    state: HoldReport['state'],
    waiting: number,
    status?: number,
  ): void {
    const { method, url } = request
    this.#report({ state, method, path: url.pathname, waiting, ...(status !== undefined && { status }) })
  }

  get #waiting(): number {
    return this.#queues.reduce((total, { length }) => total + length, 0)
  }
}

/** The request once more, with the content that was read. */
function withParts(request: DirectRequest, parts: readonly Uint8Array[], waits: boolean): DirectRequest {
  const { inform, body, ...asked } = request
  const fields = request.fields.filter(([name]) => name !== 'expect')
  const left = parts.values()
  return {
    ...asked,
    fields,
    body: body && { next: async () => left.next().value },
    ...(waits && inform && { inform }),
  }
}

interface Holding {
  target: HeldTarget
  queue: HoldQueue
  hold: Hold
}

/** One request: it is sent at once when the target is there and nothing waits, and otherwise kept if it fits. */
class HoldingExchange implements DirectExchange {
  readonly #request: DirectRequest
  readonly #exchange: DirectExchange
  readonly #holding: Holding
  #held: Held | undefined
  #cancelled: { reason: unknown } | undefined

  constructor(request: DirectRequest, exchange: DirectExchange, holding: Holding) {
    this.#request = request
    this.#exchange = exchange
    this.#holding = holding
  }

  async respond(): Promise<DirectResponse> {
    const { queue, target } = this.#holding
    const isHeld = UNSAFE.has(this.#request.method) && !isGrpc(this.#request.fields)
    if (!isHeld || !queue.isBusyFor(this.#request)) {
      const response = await this.#exchange.respond()
      const cause = target.causeOf(response)
      if (cause === undefined || !isNobody(cause)) return response
      if (!isHeld) return down(this.#request)
    }
    return this.#keep()
  }

  async #keep(): Promise<DirectResponse> {
    const { queue, hold } = this.#holding
    const held = await hold.take(this.#request)
    if (!held) {
      hold.refused(this.#request)
      return down(this.#request)
    }
    if (this.#cancelled) {
      held.release()
      throw this.#cancelled.reason
    }
    this.#held = held
    hold.kept(held, queue.add(held))
    if (hold.waits) return (await held.answer.promise) ?? down(this.#request)
    return textResponse(202, KEPT)
  }

  cancel(reason: unknown): void {
    this.#cancelled ??= { reason }
    this.#exchange.cancel(reason)
    // Who got 202 relies on the delivery; who waits and leaves sends it again.
    if (this.#held && this.#holding.hold.waits) this.#holding.queue.leave(this.#held, reason)
  }
}

function down(request: DirectRequest): DirectResponse {
  return lineOrPageResponse(503, DOWN, request, [['retry-after', String(RETRY_AFTER_S)]])
}
