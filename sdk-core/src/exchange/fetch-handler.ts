// The `fetch` handler of a site, and what it is called with.

import type { Upgraded, UpgradeOptions } from '../websocket/upgrade.ts'

/** What the handler is told beside the request. */
export interface FetchInfo {
  /** The URL of the site under the hostname that nobody else can have. */
  canonicalUrl: string
  /** Watches work that goes on after the response: when it fails, that is reported like an error of the handler. */
  waitUntil(promise: Promise<unknown>): void
  /**
   * Makes a WebSocket of a visitor's request, which is in no way checked for its `Origin`. Return the response, as it
   * is; the socket opens when it is sent.
   * @throws an error that answers a request that asks for no WebSocket with 426, and a malformed one with 400
   */
  upgrade(request: Request, options?: UpgradeOptions): Upgraded
}

/** What every framework exports as its `fetch`. */
export type FetchHandler = (request: Request, info: FetchInfo) => Response | Promise<Response>
