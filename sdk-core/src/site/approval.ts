// Waits for the relay's operator to approve the site. The code that polls is loaded when a site first has to wait.

import type { ApprovalPoll } from './approval-poll.ts'

export class Approval {
  #look: (signal: AbortSignal) => Promise<void>
  #isAwaited = false
  /** Undefined until the site first waits for an approval. */
  #poll: ApprovalPoll | undefined

  /** @param look asks the relay; its rejections are ignored */
  constructor(look: (signal: AbortSignal) => Promise<void>) {
    this.#look = look
  }

  /** Begins to ask the relay now and then. */
  start(): void {
    this.#isAwaited = true
    if (this.#poll) this.#poll.start()
    else this.#load()
  }

  /** Asks when that is due: called on traffic, which comes even while timers sleep. */
  touch(): void {
    this.#poll?.touch()
  }

  stop(): void {
    this.#isAwaited = false
    this.#poll?.stop()
  }

  /** Where the code cannot be loaded, as in a service worker, the site learns of the approval when it renews the lease. */
  async #load(): Promise<void> {
    try {
      const late = await import('./approval-poll.ts')
      this.#poll ??= new late.ApprovalPoll(this.#look)
      if (this.#isAwaited) this.#poll.start()
    } catch {}
  }
}
