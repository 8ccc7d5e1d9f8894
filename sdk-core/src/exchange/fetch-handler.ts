// The `fetch` handler of a site, and its arguments.

import type { Upgraded, UpgradeOptions } from '../websocket/upgrade.ts'

/**
 * An ExecutionContext is the third argument of the handler: the `FetchInfo` once more. Frameworks that also run on
 * workers look for it there, such as Hono for `c.executionCtx`.
 */
export interface ExecutionContext {
  /**
   * Watches work that continues after the response. If it is a promise, or anything with `then`, and rejects, the site
   * reports that as an error of the handler. It may also be any other value.
   */
  waitUntil(work: unknown): void
  /** Does nothing: there is no origin server to fall back to. */
  passThroughOnException(): void
  /** An empty object. */
  props: unknown
}

/** A FetchInfo is the second argument of the handler. */
export interface FetchInfo extends ExecutionContext {
  /** The URL of the site with its canonical hostname, which no other identity can have. */
  canonicalUrl: string
  /**
   * Upgrades a visitor's request to a WebSocket. The SDK does not check the request's `Origin`. Return the `response`
   * unchanged: the socket opens when it is sent.
   * @throws an error that, if not caught, answers 426 to a request that is no WebSocket handshake, and to a malformed one
   *   400
   */
  upgrade(request: Request, options?: UpgradeOptions): Upgraded
}

/** The handler that is running synchronously: it has not reached its first `await` and has not returned. */
export const running: { handler?: FetchHandler | undefined } = {}

/** A FetchHandler answers requests: every framework exports one as its `fetch`. */
export type FetchHandler = (
  request: Request,
  info: FetchInfo,
  context?: ExecutionContext,
) => Response | Promise<Response>
