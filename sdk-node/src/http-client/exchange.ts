// The parts of a request that HTTP/1.1 and HTTP/2 share: waits for the head of the response, for its content, and for 100
// (Continue), and the failure of the exchange.

import type { BodyBatch, DirectBody, DirectResponse, Field } from '@svc/sdk-core'
import type { OutgoingRequest } from './outgoing-request.ts'
import { TargetFault } from './target-fault.ts'

/** How long the SDK waits for a local server's 100 (Continue), which it may not support: as curl does. */
const CONTINUE_WAIT_MS = 1_000

/** What each version knows of a head. */
interface Head {
  status: number
  /** The Content-Length, which a response to HEAD has without the content. */
  length: number | undefined
}

export abstract class Exchange<AnyHead extends Head> implements DirectResponse {
  protected readonly request: OutgoingRequest
  protected readonly headCame: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  protected head: AnyHead | undefined
  /** True when the whole request was sent. */
  protected isSent = false
  /** True when the content ended or the exchange failed. */
  protected isOver = false
  protected failure: { error: unknown } | undefined
  readonly #target: { host: string; port: number }
  #isBodyBroken = false
  #wake: (() => void) | undefined
  /** Ends the wait for 100. */
  #decided: (() => void) | undefined

  constructor(request: OutgoingRequest, target: { host: string; port: number }) {
    this.request = request
    this.#target = target
    this.headCame.promise.catch(() => {})
  }

  /** True when nothing of a response arrived. */
  abstract get isUnheard(): boolean

  abstract get statusText(): string

  abstract get fields(): Field[]

  abstract ready(): BodyBatch

  /** Lets go of the connection or the stream after a failure. */
  protected abstract abandon(): void

  /** True when the body of the request could not be read. */
  get hasBrokenBody(): boolean {
    return this.#isBodyBroken
  }

  get status(): number {
    return this.head!.status
  }

  get length(): number | undefined {
    return this.head!.length
  }

  async next(): Promise<BodyBatch> {
    for (;;) {
      const batch = this.ready()
      if (batch.size > 0 || batch.done) return batch
      if (this.failure) throw this.failure.error
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  cancel(reason: unknown): void {
    this.fail(reason)
  }

  /** @returns the bytes that are there */
  protected batchOf(bytes: Uint8Array | undefined): BodyBatch {
    const done = this.isOver && !this.failure
    return { pieces: bytes ? [bytes] : [], size: bytes?.length ?? 0, done }
  }

  /** Waits for 100 (Continue) (RFC 9110 §10.1.1), with a deadline, because a server may not support it. */
  protected async isContentWanted(): Promise<boolean> {
    let late: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#decided = resolve
      late = setTimeout(resolve, CONTINUE_WAIT_MS)
    })
    clearTimeout(late)
    return !this.isOver && !this.head
  }

  /** Ends the wait for 100 (Continue). */
  protected decided(): void {
    this.#decided?.()
  }

  protected async readContent(body: DirectBody, deadlineMs?: number): Promise<Uint8Array | undefined> {
    try {
      return await body.next(deadlineMs)
    } catch (error) {
      this.#isBodyBroken = !this.isOver
      throw error
    }
  }

  /** Fails because of an error of the target. */
  protected faulted(cause: unknown): TargetFault {
    const { host, port } = this.#target
    const fault = new TargetFault({ host, port, ...this.request }, cause, this.isUnheard)
    this.fail(fault)
    return fault
  }

  protected fail(error: unknown): void {
    if (this.isOver) return
    this.isOver = true
    this.failure = { error }
    this.abandon()
    this.headCame.reject(error)
    this.decided()
    this.wakeReader()
  }

  protected wakeReader(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
