// Reconnects a site: it tries again with pauses, and gives up what cannot pass by itself.

import { Backoff } from '../carrier/backoff.ts'
import { asSvcError, type SvcError } from '../errors.ts'
import { isFatal, isLeaseLost } from './failure-policy.ts'

interface Steps {
  /** @param trusting the lease need not be looked at before. @throws SvcError */
  connect(trusting: boolean): Promise<void>
  wasOnline(): boolean
  /** There is nothing to renew any more. */
  leaseLost(): void
  /** Trying again cannot help. */
  failed(reason: SvcError): void
  /** The next attempt comes after so many milliseconds. */
  pauses(reason: SvcError, ms: number): void
}

export class Reconnection {
  #steps: Steps
  #backoff = new Backoff()

  constructor(steps: Steps) {
    this.#steps = steps
  }

  /** The way works: the next pause is a short one. */
  reset(): void {
    this.#backoff.reset()
  }

  /** Tries at once, unless the relay asked to wait. */
  wake(): void {
    this.#backoff.wake()
  }

  /** @param cause why the site is not connected; undefined when there is nothing to wait for */
  async run(cause: SvcError | undefined, signal: AbortSignal): Promise<void> {
    const steps = this.#steps
    for (let reason = cause; !signal.aborted; ) {
      if (reason) {
        if (isLeaseLost(reason)) steps.leaseLost()
        if (isFatal(reason, steps.wasOnline())) return steps.failed(reason)
        await this.#pauseAfter(reason, signal)
        if (signal.aborted) return
      }
      try {
        return await steps.connect(reason === cause && reason?.code === 'relay_unreachable')
      } catch (error) {
        reason = asSvcError(error, 'relay_unreachable', 'reconnecting failed')
      }
    }
  }

  async #pauseAfter(reason: SvcError, signal: AbortSignal): Promise<void> {
    const askedMs = reason.retryAfterMs ?? 0
    const pauseMs = Math.max(this.#backoff.next(), askedMs)
    this.#steps.pauses(reason, pauseMs)
    if (!signal.aborted) await this.#backoff.pause(pauseMs, signal, askedMs > 0)
  }
}
