// The `fetch` handler of a site, and the arguments with which it is called.

import type { Upgraded, UpgradeOptions } from '../websocket/upgrade.ts'

/**
 * An ExecutionContext is the third argument with which the handler is called: the `FetchInfo` once more. Frameworks that also run on
 * workers look there, such as Hono for `c.executionCtx`.
 */
export interface ExecutionContext {
  /**
   * Watches work that goes on after the response. When it is a promise, or anything with `then`, and rejects, the site
   * reports that as an error of the handler. It may be any other value, too.
   */
  waitUntil(work: unknown): void
  /** Does nothing: there is no other server behind the handler. */
  passThroughOnException(): void
  /** An empty object. */
  props: unknown
}

/** A FetchInfo is the second argument with which the handler is called. */
export interface FetchInfo extends ExecutionContext {
  /** The URL of the site with its canonical hostname, which no other identity can have. */
  canonicalUrl: string
  /**
   * Makes a WebSocket of a visitor's request. The SDK does not check the request's `Origin`. Return the `response`
   * unchanged: the socket opens when it is sent.
   * @throws an error which, when it is not caught, answers a request for no WebSocket with 426 and a malformed one with
   *   400
   */
  upgrade(request: Request, options?: UpgradeOptions): Upgraded
}

/** The handler that is being called at this moment: it has not reached its first `await`, and has returned nothing. */
export const running: { handler?: FetchHandler | undefined } = {}

/** A FetchHandler answers requests: every framework exports one as its `fetch`. */
export type FetchHandler = (
  request: Request,
  info: FetchInfo,
  context?: ExecutionContext,
) => Response | Promise<Response>
