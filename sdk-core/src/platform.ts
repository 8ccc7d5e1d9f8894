// The interface of a platform: what a site needs of its environment, be it a page or Node.

import type { Extension } from '@svc/protocol'
import type { CryptoProvider } from '@svc/tls'
import type { ByteStream } from './bytes/byte-stream.ts'
import type { Traffic } from './carrier/carrier-connection.ts'
import type { CarrierEvents, CarrierStats } from './carrier/multiplexed-carrier.ts'
import type { SiteKeyStore } from './certificate/site-key.ts'
import type { TunnelAddress } from './control/dedicated-ports.ts'
import type { GatewayCheck } from './control/endpoint.ts'
import type { Registration } from './control/lease.ts'
import type { FetchFunction } from './control/relay-client.ts'
import type { SvcError } from './errors.ts'
import type { EndTls } from './tenant/end-tls.ts'
import type { Admit } from './tenant/visitor-connection.ts'

/**
 * A Platform holds what differs between a page and Node: how a site connects, loads its identity and serves what is
 * not HTTP.
 */
export interface Platform {
  fetch: FetchFunction
  /**
   * Returns the same for one more relay of a site, where the platform keeps something for each relay. Platforms that do not
   * leave it out.
   */
  forAnotherRelay?(): Platform
  /**
   * Drops the connections that `fetch` keeps, after the network broke: they are probably dead. Browsers do that
   * themselves.
   */
  forgetConnections?(): void
  /**
   * Passes the events of a page on to the site: that the page goes away or comes back, or that its network is back.
   * Platforms without pages leave it out.
   * @param signal aborted when nothing of the site is left
   */
  followPage?(site: SuspendableSite, signal: AbortSignal): void
  /** The third argument of the WebSocket constructor, where that takes one. */
  webSocketOptions?: object | undefined
  /**
   * Resolves with the private key to use when the options have none.
   * @param name the name of a stored key, when the options give one
   * @throws SvcError `invalid_option` where identities have no names
   */
  loadIdentity(name?: string): Promise<Uint8Array>
  /**
   * Keeps the key of each site's own certificate, and the last chain. A site of a platform that leaves it out always shows
   * the relay's certificate.
   */
  siteKeys?: SiteKeyStore | undefined
  /**
   * False where visitors come to dedicated ports alone: such a site is online without a certificate.
   * @default true
   */
  needsCertificate?: boolean | undefined
  /**
   * The TLS engine's primitives.
   * @default WebCrypto
   */
  tlsCrypto?: CryptoProvider | undefined
  /**
   * Ends the TLS of visitors to a site that has a certificate of its own.
   * @default the engine, which ends all others
   */
  endTls?: EndTls | undefined
  /** Examines each visitor's connection when its TLS handshake is done. */
  admit?: Admit | undefined
  /** Opens another carrier than the WebSocket. */
  openCarrier?: OpenCarrier | undefined
  /**
   * Takes endpoints at gateways of the relay's choice. `openCarrier` has to reach one at public addresses alone.
   * @default the site takes none
   */
  gateways?: Gateways | undefined
  /** The default of `maxConnections` on this platform. */
  connectionsDefault?: number | undefined
  /**
   * Serves the visitors' TLS streams as they come, in place of the engine. Settles when one is over, and never rejects.
   */
  serveTls?: ServeStream | undefined
  /**
   * Serves TCP visitors as `serveTls` does. A site of a platform that has it asks the relay for a dedicated TCP port.
   */
  serveRaw?: ServeStream | undefined
  /** Opens the datagram tunnel. A site of a platform that has it asks the relay for a dedicated UDP port. */
  openDatagrams?: OpenDatagrams | undefined
}

/** A SuspendableSite goes away and comes back with its page. */
export interface SuspendableSite {
  /** Makes the site try at once: the network is back, or the page is visible again. */
  wake(): void
  /** Disconnects the site, because its page goes away. It may come back. */
  suspend(): void
  /** Connects the site again, because its page is back. */
  resume(): void
}

/** Serves one visitor's connection as it is, without TLS or HTTP. Resolves when the connection has ended. */
export type ServeStream = (stream: ByteStream) => Promise<void>

/**
 * Resolves once the relay took the lease's first datagram tunnel. Later ones follow by themselves.
 * @throws SvcError the reason for which there is none
 */
export type OpenDatagrams = (
  relay: URL,
  events: DatagramEvents,
  signal: AbortSignal,
) => Promise<DatagramCarrier>

/** DatagramEvents are the site's answers to a datagram tunnel, and the tunnel's reports to its site. */
export interface DatagramEvents {
  /** Returns the current lease token. Undefined while there is no lease. */
  accessToken(): string | undefined
  /** Returns where tunnels of the current lease come in. Undefined when that is the relay's authority. */
  tunnelAddress(): TunnelAddress | undefined
  /** Called when the relay refuses the token: the site renews the lease, or registers again. */
  stale(): void
  /** Called when the tunnel was lost, or could not be opened again. The carrier tries again. */
  failed(error: SvcError): void
}

/** A DatagramCarrier keeps a datagram tunnel for a site. */
export interface DatagramCarrier {
  readonly stats: DatagramStats
  /** Opens a new tunnel at once, and ends one that is still there: the site is about to be online again. */
  wake(): void
  close(): void
}

/** DatagramStats are the figures of a datagram tunnel since it began. */
export interface DatagramStats {
  /** The number of datagrams from visitors to the local service, and back. */
  received: number
  sent: number
  /** The number of dropped datagrams for each reason. */
  dropped: Readonly<Record<string, number>>
  /** The number of visitors that the local service sees now. */
  flows: number
  /** The number of tunnels since the beginning. */
  tunnels: number
}

/**
 * Resolves once the relay accepted the first stream.
 * @throws SvcError the reason for which there is no carrier
 */
export type OpenCarrier = (
  relay: CarrierRelay,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
) => Promise<SiteCarrier>

/** A CarrierRelay is what a carrier has to know of its relay, and of the site's lease there. */
export interface CarrierRelay {
  /** The `wss:` URL for reverse sessions. */
  url: string
  /** The friendly hostname. It is empty when another identity owns the friendly name. */
  hostname: string
  canonicalHostname: string
  /** The URL is that of a gateway that the relay chose, and has to be at a public address. */
  isGateway: boolean
  /** The extensions of the protocol that the relay has. */
  extensions: ReadonlySet<Extension>
}

/** A SiteCarrier brings a site its visitors. */
export interface SiteCarrier {
  readonly isClosed: boolean
  readonly stats: CarrierStats
  /** Opens the ready streams that are missing: the site renewed the lease, or has room for more visitors. */
  fill(): void
  /**
   * Checks at once whether the relay still answers. The site calls it where the platform reports sleep and lost
   * networks.
   */
  probe?(): void
  /** Accepts no more visitors. Resolves when the connected ones have left. */
  drain(): Promise<void>
  /** Closes the carrier without an event. Connections that it serves end with it. */
  close(): void
}

/** Gateways is how a platform takes gateways. */
export interface Gateways {
  check: GatewayCheck
  /**
   * Opens a carrier at a gateway, or elsewhere when that fails.
   * @param avoid resolves with the lease at another endpoint than the one that failed, or with undefined
   */
  open(
    lease: Registration,
    open: (lease: Registration) => Promise<SiteCarrier>,
    avoid: (failed: Registration) => Promise<Registration | undefined>,
    signal: AbortSignal,
  ): Promise<SiteCarrier>
}
