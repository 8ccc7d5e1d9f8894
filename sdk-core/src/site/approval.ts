// Waits for the operator to approve the site. The polling code is loaded when a site first has to wait.

import type { ApprovalPoll } from './approval-poll.ts'

export class Approval {
  #look: (signal: AbortSignal) => Promise<void>
  #isAwaited = false
  /** Undefined until the site first waits for an approval. */
  #poll: ApprovalPoll | undefined

  /** @param look asks the relay; rejections are ignored */
  constructor(look: (signal: AbortSignal) => Promise<void>) {
    this.#look = look
  }

  /** Starts polling the relay. */
  start(): void {
    this.#isAwaited = true
    if (this.#poll) this.#poll.start()
    else this.#load()
  }

  /** Polls when that is due. Called on traffic, which comes even when timers do not fire. */
  touch(): void {
    this.#poll?.touch()
  }

  stop(): void {
    this.#isAwaited = false
    this.#poll?.stop()
  }

  /** If the code cannot be loaded, as in a service worker, the site learns of the approval when it renews the lease. */
  async #load(): Promise<void> {
    try {
      const late = await import('./approval-poll.ts')
      this.#poll ??= new late.ApprovalPoll(this.#look)
      if (this.#isAwaited) this.#poll.start()
    } catch {}
  }
}
