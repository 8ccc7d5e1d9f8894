// The interface of a platform: what a site needs of where it runs, be it a page or Node.

import type { CryptoProvider } from '@svc/tls'
import type { ByteStream } from './bytes/byte-stream.ts'
import type { Traffic } from './carrier/carrier-socket.ts'
import type { CarrierEvents, CarrierStats } from './carrier/websocket-carrier.ts'
import type { FetchFunction } from './control/relay-client.ts'
import type { SvcError } from './errors.ts'
import type { Admit } from './tenant/visitor-connection.ts'

/**
 * A Platform holds what differs between a page and Node: how a site connects, loads its identity and serves what is
 * not HTTP.
 */
export interface Platform {
  fetch: FetchFunction
  /** The network broke: connections that `fetch` keeps are probably dead. Browsers see to that themselves. */
  forgetConnections?(): void
  /**
   * Passes the events of a page on to the site: the page is hidden for good or back, or its network is. Platforms without
   * pages leave it out.
   * @param signal aborted when nothing of the site is left
   */
  followPage?(site: SuspendableSite, signal: AbortSignal): void
  /** Third argument of the WebSocket constructor, where it takes one. */
  webSocketOptions?: object | undefined
  /**
   * The private key to use when the options have none.
   * @param name which of those that are kept here, when the options say that
   * @throws SvcError `invalid_option` where identities have no names
   */
  loadIdentity(name?: string): Promise<Uint8Array>
  /** The TLS engine's primitives; WebCrypto unless given. */
  tlsCrypto?: CryptoProvider | undefined
  /** Looks at each visitor's connection once TLS is up. */
  admit?: Admit | undefined
  /** Another carrier than the WebSocket. */
  openCarrier?: OpenCarrier | undefined
  /** Connections at once, where the options do not say. */
  connectionsDefault?: number | undefined
  /** Takes the visitors' TLS streams as they come, in place of the engine. Settles when one is over; never rejects. */
  serveTls?: ServeStream | undefined
  /** Asks the relay for a dedicated TCP port, and serves its visitors as `serveTls` does. */
  serveRaw?: ServeStream | undefined
  /** Asks the relay for a dedicated UDP port, and keeps a way for its datagrams. */
  openDatagrams?: OpenDatagrams | undefined
}

/** A site that goes away and comes back with its page. */
export interface SuspendableSite {
  /** The network is back, or the page is looked at again: the site tries again at once. */
  wake(): void
  /** The page goes away, perhaps to come back. */
  suspend(): void
  /** The page is back. */
  resume(): void
}

/** Serves one visitor's connection as it is, without TLS or HTTP. Resolves when the connection has ended. */
export type ServeStream = (stream: ByteStream) => Promise<void>

/**
 * Resolves once the relay took the lease's first datagram tunnel; later ones follow by themselves.
 * @throws SvcError why there is none
 */
export type OpenDatagrams = (
  relay: URL,
  events: DatagramEvents,
  signal: AbortSignal,
) => Promise<DatagramCarrier>

/** Through DatagramEvents a datagram tunnel asks its site, and tells it. */
export interface DatagramEvents {
  /** Of the lease as it is now; undefined while there is none. */
  accessToken(): string | undefined
  /** The relay does not take the token: the lease is renewed, or registered anew. */
  stale(): void
  /** The way was lost, or could not be had again; it is tried again. */
  failed(error: SvcError): void
}

/** A site's way for the datagrams of its visitors. */
export interface DatagramCarrier {
  readonly stats: DatagramStats
  /** The site is about to be online again: nothing of before may still be there. Tries at once. */
  wake(): void
  close(): void
}

/** DatagramStats are the figures of a datagram tunnel since it began. */
export interface DatagramStats {
  /** From visitors to the local service, and back. */
  received: number
  sent: number
  /** Why datagrams went no further, and how many each. */
  dropped: Readonly<Record<string, number>>
  /** Visitors that the local service sees now. */
  flows: number
  /** Tunnels that there were in all. */
  tunnels: number
}

/**
 * Resolves once the relay accepted the first stream.
 * @param url `wss:` address of the relay's reverse sessions
 * @throws SvcError why there is no carrier
 */
export type OpenCarrier = (
  url: string,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
) => Promise<SiteCarrier>

/** A site's way to its visitors. */
export interface SiteCarrier {
  readonly isClosed: boolean
  readonly stats: CarrierStats
  /** Opens the ready streams that are missing: the lease was renewed, or there is room for more visitors. */
  fill(): void
  /** Finds out now whether the relay still answers, where the platform tells of sleep and lost networks. */
  probe?(): void
  /** No more visitors. Resolves when those who are here have left. */
  drain(): Promise<void>
  /** Closes without an event. Connections that are being served end with it. */
  close(): void
}
