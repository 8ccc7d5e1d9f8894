// Polls whether the relay's operator has approved the site, since a relay does not announce that.

/** The SDK first polls for the operator's approval after this. */
const APPROVAL_POLL_MIN_MS = 1_000
/** Each later poll comes after this share of the time that the site has waited. */
const APPROVAL_POLL_SHARE = 0.25
/** Polls for approval are at most this far apart: each costs the relay one signature. */
const APPROVAL_POLL_MAX_MS = 10_000

export class ApprovalPoll {
  #look: (signal: AbortSignal) => Promise<void>
  #since = 0
  #dueAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Aborted when polling stops. Undefined while the site waits for no approval. */
  #watching: AbortController | undefined
  #isLooking = false

  /** @param look asks the relay; its rejections are ignored */
  constructor(look: (signal: AbortSignal) => Promise<void>) {
    this.#look = look
  }

  start(): void {
    if (this.#watching) return
    this.#watching = new AbortController()
    this.#since = performance.now()
    this.#schedule()
  }

  /** Polls when that is due: called on traffic, which comes even while timers sleep. */
  touch(): void {
    if (performance.now() >= this.#dueAt) this.#lookNow()
  }

  stop(): void {
    this.#watching?.abort()
    this.#watching = undefined
    clearTimeout(this.#timer)
  }

  /** The pauses grow: a site that has waited for minutes need not learn of its approval within a second. */
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
