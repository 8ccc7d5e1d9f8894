// The `fetch` handler of a site, and its arguments.

import type { ClientCertificate } from '@svc/tls'
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

/** A RemoteAddress is where a visitor's connection comes from. */
export interface RemoteAddress {
  /** IPv4 in four decimal numbers, or IPv6 in the form of RFC 5952. */
  address: string
  /** The port; 0 when unknown. */
  port: number
  reportedBy: 'relay'
  /** The name of the connection in the relay's log: 32 hex digits. */
  traceId?: string | undefined
}

/** A VisitorUser is who signed in, in the words of an issuer of OpenID Connect. */
export interface VisitorUser {
  /** The issuer's own name for the person, which it never gives to another (`sub`). */
  subject: string
  /** The e-mail address, if the issuer has verified it. */
  email?: string | undefined
  /** The name to show: a person may choose any, and many may have the same. */
  name?: string | undefined
  /** Those of the option `access.oidc.groups` that the person belongs to. */
  groups?: readonly string[] | undefined
}

/** A KnownVisitor is what a site knows of a visitor. */
export interface KnownVisitor {
  /**
   * Where the visitor's connection comes from. It is the relay's word: the site cannot check it. Undefined without the option
   * `visitorAddress`, at a relay without the extension `visitor_address`, and when the relay does not know the address.
   */
  remote?: RemoteAddress | undefined
  /** Who signed in by `access.oidc`. Undefined for all others. */
  user?: VisitorUser | undefined
  /**
   * The visitor's certificate, which the site has verified. Undefined without the option `tls.clientCertificates`, and for
   * visitors without one where they need none.
   */
  clientCertificate?: ClientCertificate | undefined
  /** `'2'` for a visitor who speaks HTTP/2; undefined for HTTP/1.1. */
  httpVersion?: '2' | undefined
}

/** A FetchInfo is the second argument of the handler. */
export interface FetchInfo extends ExecutionContext, KnownVisitor {
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
