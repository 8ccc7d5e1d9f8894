// The interface of a platform: what a site needs from its environment, a page or Node.

import type { Extension } from '@svc/protocol'
import type { CryptoProvider } from '@svc/tls'
import type { DeriveKey } from './access/password-hash.ts'
import type { ByteStream } from './bytes/byte-stream.ts'
import type { Traffic } from './carrier/carrier-connection.ts'
import type { CarrierEvents, CarrierStats } from './carrier/multiplexed-carrier.ts'
import type { Visitor } from './carrier/reverse-stream.ts'
import type { SiteKeyStore } from './certificate/site-key.ts'
import type { TunnelAddress } from './control/dedicated-ports.ts'
import type { GatewayCheck } from './control/endpoint.ts'
import type { Registration } from './control/lease.ts'
import type { FetchFunction } from './control/relay-client.ts'
import type { NativeKey } from './domains/brought-certificate.ts'
import type { DomainStore } from './domains/domain-store.ts'
import type { AskCaa } from './domains/protection.ts'
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
   * Returns a platform for one more relay of a site. Platforms that keep no state for each relay
   * leave it out.
   */
  forAnotherRelay?(): Platform
  /**
   * Drops the idle connections of `fetch` after the network broke: they are probably dead. Browsers do that
   * themselves.
   */
  forgetConnections?(): void
  /**
   * Tells the site when its page goes away or comes back, or when the network is back.
   * Platforms without pages leave it out.
   * @param signal aborted when the site has ended
   */
  followPage?(site: SuspendableSite, signal: AbortSignal): void
  /** Waits for what is still being written to {@link siteKeys} and {@link domainStore}, so that a process may end with its site. */
  storesDone?(): Promise<void>
  /** The third argument of the WebSocket constructor, if it takes one. */
  webSocketOptions?: object | undefined
  /**
   * Resolves with the private key to use when the options have none.
   * @param name the name of a stored key, when the options give one
   * @throws SvcError `invalid_option` on platforms where identities have no names
   */
  loadIdentity(name?: string): Promise<Uint8Array>
  /**
   * Stores the key of each site's own certificate, and the last chain. Without it, a site always presents
   * the relay's certificate.
   */
  siteKeys?: SiteKeyStore | undefined
  /** Keeps the ACME account and the certificates of custom domains. Without it, such certificates can only be brought. */
  domainStore?: (() => Promise<DomainStore>) | undefined
  /** Lets {@link endTls} use a key that was brought for a custom domain. */
  nativeKey?: NativeKey | undefined
  /**
   * Asks the platform's resolver for CAA records.
   * @default the site cannot tell whether its domains are protected
   */
  askCaa?: AskCaa | undefined
  /**
   * False when visitors come only to dedicated ports: such a site is online without a certificate.
   * @default true
   */
  needsCertificate?: boolean | undefined
  /**
   * The cryptography of the TLS engine.
   * @default WebCrypto
   */
  tlsCrypto?: CryptoProvider | undefined
  /**
   * Terminates visitors' TLS for a site that has its own certificate.
   * @default the engine, which terminates all other TLS
   */
  endTls?: EndTls | undefined
  /**
   * Runs scrypt for the passwords of `access`, with its cost.
   * @default in JavaScript
   */
  scrypt?: DeriveKey | undefined
  /** Decides about each visitor's connection when its TLS handshake is done. */
  admit?: Admit | undefined
  /** Opens a carrier in place of the WebSocket. */
  openCarrier?: OpenCarrier | undefined
  /**
   * Accepts endpoints at gateways of the relay's choice. `openCarrier` must connect to them only at public addresses.
   * @default the site accepts none
   */
  gateways?: Gateways | undefined
  /** The default of `maxConnections` on this platform. */
  connectionsDefault?: number | undefined
  /**
   * Serves visitors' TLS streams as they come, in place of the engine. Settles when one is over, and never rejects.
   */
  serveTls?: ServeStream | undefined
  /**
   * Serves TCP visitors as `serveTls` does. When it is set, the site requests a dedicated TCP port.
   */
  serveRaw?: ServeStream | undefined
  /** Opens the datagram tunnel. When it is set, the site requests a dedicated UDP port. */
  openDatagrams?: OpenDatagrams | undefined
}

/** A SuspendableSite goes away and comes back with its page. */
export interface SuspendableSite {
  /** Makes the site try at once, because the network is back or the page is visible again. */
  wake(): void
  /** Disconnects the site, because its page goes away and may come back. */
  suspend(): void
  /** Connects the site again, because its page is back. */
  resume(): void
}

/**
 * Serves one visitor's raw connection, without TLS or HTTP. Resolves when the connection has ended.
 * @param visitor set for a site that asked for its visitors' addresses
 */
export type ServeStream = (stream: ByteStream, visitor?: Visitor) => Promise<void>

/**
 * Resolves once the relay accepted the lease's first datagram tunnel. The carrier opens later ones itself.
 * @throws SvcError the reason for which there is none
 */
export type OpenDatagrams = (
  relay: URL,
  events: DatagramEvents,
  signal: AbortSignal,
) => Promise<DatagramCarrier>

/** DatagramEvents are the site's answers to a datagram tunnel, and the tunnel's reports to its site. */
export interface DatagramEvents {
  /** Returns the current lease. Undefined while there is none. */
  lease(): TunnelLease | undefined
  /** Called when the relay refuses the token: the site renews the lease, or registers again. */
  stale(): void
  /** Called when the tunnel was lost or could not be reopened. The carrier tries again. */
  failed(error: SvcError): void
}

/** TunnelLease is what a datagram tunnel needs of its lease. */
export interface TunnelLease {
  accessToken: string
  /** The address for tunnels of the lease. Undefined when that is the relay's authority. */
  tunnelAddress?: TunnelAddress | undefined
  /** The protocol extensions of the relay. */
  extensions: ReadonlySet<string>
  /** The answer to the registration: the same object until the site registers again. */
  answer: object
}

/** A DatagramCarrier keeps a datagram tunnel for a site. */
export interface DatagramCarrier {
  readonly stats: DatagramStats
  /** Opens a new tunnel at once and ends the old one, because the site is about to be online again. */
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
  /** The number of visitors that the local service has now. */
  flows: number
  /** The number of tunnels so far. */
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

/** A CarrierRelay is what a carrier must know about its relay, and about the site's lease there. */
export interface CarrierRelay {
  /** The `wss:` URL for reverse sessions. */
  url: string
  /** The friendly hostname. It is empty when another identity owns the friendly name. */
  hostname: string
  canonicalHostname: string
  /** True when the URL is that of a gateway that the relay chose, which must be at a public address. */
  isGateway: boolean
  /** The protocol extensions of the relay. */
  extensions: ReadonlySet<Extension>
}

/** A SiteCarrier brings visitors to a site. */
export interface SiteCarrier {
  readonly isClosed: boolean
  readonly stats: CarrierStats
  /** Opens the missing ready streams, after the site renewed the lease or has room for more visitors. */
  fill(): void
  /**
   * Checks at once whether the relay still answers. The site calls it when the platform reports sleep or lost
   * networks.
   */
  probe?(): void
  /** Accepts no more visitors. Resolves when the connected ones have left. */
  drain(): Promise<void>
  /** Closes the carrier without an event. Connections that it serves end with it. */
  close(): void
}

/** Gateways is how a platform accepts gateways. */
export interface Gateways {
  check: GatewayCheck
  /**
   * Opens a carrier at a gateway, or at another endpoint when that fails.
   * @param avoid resolves with the lease at another endpoint than the one that failed, or with undefined
   */
  open(
    lease: Registration,
    open: (lease: Registration) => Promise<SiteCarrier>,
    avoid: (failed: Registration) => Promise<Registration | undefined>,
    signal: AbortSignal,
  ): Promise<SiteCarrier>
}
