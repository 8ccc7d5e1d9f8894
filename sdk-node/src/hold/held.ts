// What is kept for a target that is down, and how it is delivered.

import type { DirectHandler, DirectRequest, DirectResponse } from '@svc/sdk-core'

/** A Held is one request that is kept. */
export interface Held {
  readonly request: DirectRequest
  /** Resolves with the target's answer, or with undefined when there will be none. */
  readonly answer: PromiseWithResolvers<DirectResponse | undefined>
  /** Gives its room back. */
  release(): void
}

/** A HeldTarget is how a target is asked. */
export interface HeldTarget {
  /** Asks the target over a connection of its own, so that a refused one shows that nothing was sent. */
  ask: DirectHandler
  /** The same for a request that was kept: a target that is still down is not reported again. */
  deliver: DirectHandler
  /** Returns the error because of which a response was made instead of the target's. */
  causeOf(response: DirectResponse): unknown
}

/** Returns the way to a target by which requests are kept. */
export type HoldBefore = (target: HeldTarget) => DirectHandler
