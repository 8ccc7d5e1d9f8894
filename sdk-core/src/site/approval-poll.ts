// Polls for the operator's approval of the site, which a relay does not announce.

/** The pause before the first poll. */
const APPROVAL_POLL_MIN_MS = 1_000
/** Each later pause is this share of the time that the site has waited. */
const APPROVAL_POLL_SHARE = 0.25
/** The longest pause between polls. */
const APPROVAL_POLL_MAX_MS = 10_000

export class ApprovalPoll {
  #look: (signal: AbortSignal) => Promise<void>
  #since = 0
  #dueAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Aborted when polling stops. Undefined while the site does not wait for approval. */
  #watching: AbortController | undefined
  #isLooking = false

  /** @param look asks the relay; rejections are ignored */
  constructor(look: (signal: AbortSignal) => Promise<void>) {
    this.#look = look
  }

  start(): void {
    if (this.#watching) return
    this.#watching = new AbortController()
    this.#since = performance.now()
    this.#schedule()
  }

  /** Polls when that is due. Called on traffic, which comes even when timers do not fire. */
  touch(): void {
    if (performance.now() >= this.#dueAt) this.#lookNow()
  }

  stop(): void {
    this.#watching?.abort()
    this.#watching = undefined
    clearTimeout(this.#timer)
  }

  /** Schedules the next poll. The pauses grow: a site that has waited for minutes need not learn of its approval within a second. */
  #schedule(): void {
    const waitedMs = performance.now() - this.#since
    const pauseMs = Math.min(
      Math.max(waitedMs * APPROVAL_POLL_SHARE, APPROVAL_POLL_MIN_MS),
      APPROVAL_POLL_MAX_MS,
    )
    this.#dueAt = performance.now() + pauseMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#lookNow(), pauseMs)
  }

  async #lookNow(): Promise<void> {
    const watching = this.#watching
    if (!watching || this.#isLooking) return
    this.#isLooking = true
    await this.#look(watching.signal).catch(() => {})
    this.#isLooking = false
    if (this.#watching) this.#schedule()
  }
}
