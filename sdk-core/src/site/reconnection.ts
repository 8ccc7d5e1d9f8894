// Reconnects a site: it tries again with pauses, and stops at a failure that cannot pass by itself.

import { Backoff } from '../carrier/backoff.ts'
import { asSvcError, type SvcError } from '../errors.ts'
import { isFatal, isLeaseLost } from './failure-policy.ts'

interface Steps {
  /**
   * Connects the site.
   * @param trusting the lease need not be checked before
   * @throws SvcError
   */
  connect(trusting: boolean): Promise<void>
  wasOnline(): boolean
  /** Called when there is no lease to renew any more. */
  leaseLost(): void
  /** Called with a failure after which another attempt cannot help. */
  failed(reason: SvcError): void
  /** Called with the milliseconds before the next attempt. */
  pauses(reason: SvcError, ms: number): void
}

export class Reconnection {
  #steps: Steps
  #backoff = new Backoff()

  constructor(steps: Steps) {
    this.#steps = steps
  }

  /** Makes the next pause a short one: the relay can be reached. */
  reset(): void {
    this.#backoff.reset()
  }

  /** Tries at once, unless the relay asked the SDK to wait. */
  wake(): void {
    this.#backoff.wake()
  }

  /**
   * Tries until the site is connected.
   * @param cause the failure that disconnected the site; undefined when there is nothing to wait for
   */
  async run(cause: SvcError | undefined, signal: AbortSignal): Promise<void> {
    const steps = this.#steps
    for (let reason = cause; !signal.aborted; ) {
      if (reason) {
        if (isLeaseLost(reason)) steps.leaseLost()
        if (isFatal(reason, steps.wasOnline())) return steps.failed(reason)
        await this.#pauseAfter(reason, signal, reason === cause && steps.wasOnline())
        if (signal.aborted) return
      }
      try {
        return await steps.connect(reason === cause && reason?.code === 'relay_unreachable')
      } catch (error) {
        reason = asSvcError(error, 'relay_unreachable', 'reconnecting failed')
      }
    }
  }

  /** @param isLoss the site was online until now */
  async #pauseAfter(reason: SvcError, signal: AbortSignal, isLoss: boolean): Promise<void> {
    const askedMs = reason.retryAfterMs ?? 0
    const pauseMs = Math.max(isLoss ? this.#backoff.afterLoss() : this.#backoff.next(), askedMs)
    this.#steps.pauses(reason, pauseMs)
    if (!signal.aborted) await this.#backoff.pause(pauseMs, signal, askedMs > 0)
  }
}
