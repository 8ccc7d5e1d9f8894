// Counts wrong secrets per network: after five in a minute the network has to wait.

import { LOGIN_FAILURES_PER_MINUTE } from '@svc/protocol'

/** Networks whose failures are remembered. The one that failed longest ago is forgotten first. */
const NETWORKS_MAX = 1024
export const MINUTE_MS = 60_000

interface Failures {
  /** Times of failures within the last minute by `performance.now()`, the oldest first. */
  recent: number[]
  /** Whether another failure exceeded the limit since then. */
  isExceeded: boolean
}

export interface FailedAttempt {
  /** Seconds after which the network may fail again; undefined below the limit. */
  waitS: number | undefined
  /** Whether this is the first failure over the limit. */
  isFirst: boolean
}

/** Counts the wrong secrets of each network: in this process, or at all machines of a relay together. */
export interface AttemptCounter {
  failed(network: string): FailedAttempt | Promise<FailedAttempt>
}

export class FailedAttempts implements AttemptCounter {
  /** Failures by network; the network that failed longest ago is first. */
  readonly #failures = new Map<string, Failures>()

  failed(network: string): FailedAttempt {
    const now = performance.now()
    const { recent, isExceeded } = this.#of(network, now)
    const [oldest = now] = recent
    const isTooMany = recent.length >= LOGIN_FAILURES_PER_MINUTE
    this.#failures.delete(network)
    this.#failures.set(network, { recent: isTooMany ? recent : [...recent, now], isExceeded: isTooMany })
    const [longestAgo] = this.#failures.keys()
    if (this.#failures.size > NETWORKS_MAX && longestAgo !== undefined) this.#failures.delete(longestAgo)
    const waitS = isTooMany ? Math.ceil((oldest + MINUTE_MS - now) / 1000) : undefined
    return { waitS, isFirst: isTooMany && !isExceeded }
  }

  #of(network: string, now: number): Failures {
    const { recent = [], isExceeded = false } = this.#failures.get(network) ?? {}
    return { recent: recent.filter((at) => at > now - MINUTE_MS), isExceeded }
  }
}
