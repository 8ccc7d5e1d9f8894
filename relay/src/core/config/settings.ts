// The settings of a relay. A feature adds its own to the interface in its `settings.ts`, so that they go when its folder goes.

import type { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { isLocalhost } from './setting-values.ts'
import { SettingsError } from './settings-error.ts'
import type { UnusedSetting } from './unused-settings.ts'

export { isLocalhost, SettingsError }

/** The settings that every relay has. */
export interface CoreSettings {
  /** The relay's public base address; path and query are ignored. */
  url: URL
  /** Host of {@link url}, with its port unless that is 443: the authority in messages and links. */
  host: string
  /** The root host: normalized host name of {@link url}, below which sites get their hostnames. */
  rootHost: string
  /** TCP port of the SNI listener. */
  sniPort: number
  /** The ports that visitors may name: that of {@link url}, and {@link sniPort}. */
  ownPorts: readonly number[]
  /** IP address at which all listeners listen that have no address of their own; undefined: all addresses of this machine. */
  listenAddress: string | undefined
  /** Directory of identity, policy and certificates. */
  identityPath: string
  /** Secret with which an administrator logs in; undefined turns administration off. */
  adminToken: string | undefined
  /** Proxies that the relay believes about their clients' addresses. */
  trustedProxies: TrustedProxies
  rateLimits: RateLimitSettings
  logLevel: string
  /** Processes of the relay, the primary included. */
  workers: number
  /** Directory of static files for the root host; undefined: the relay serves its built-in pages. */
  siteDir: string | undefined
}

/** What the core must know of features: each feature says it in its settings. */
export interface FeatureFacts {
  /** Whether the relay may get certificates by ACME: the operator agrees to the authority's terms of service. */
  isAcmeAgreed: boolean
  /** Whether a first policy gives UDP and TCP ports. */
  portGates: PortGates
  /** Range of dedicated ports, for TCP and UDP alike; undefined: the relay has none. */
  portRange: PortRange | undefined
  /** Ports that no site gets, since a feature takes them. */
  reservedPorts: readonly number[]
  /** Whether other relays connect to this one over an overlay. */
  hasOverlay: boolean
  /** Port of the relay's server on the overlay that it makes itself, where it serves nothing else; undefined: it makes none. */
  overlayPort: number | undefined
}

/** Settings are the settings of a relay, read from the environment and checked. */
export interface Settings extends CoreSettings, FeatureFacts {
  /** The names of all settings that the relay knows. */
  names: readonly string[]
  /** The values of those that are set. */
  given: ReadonlyMap<string, string>
  /** Variables that are set and that the relay does not know. */
  unused: readonly UnusedSetting[]
}

/** Limits of the requests of clients that are not authenticated yet, in units a minute. */
export interface RateLimitSettings {
  networkPerMinute: number
  relayPerMinute: number
  /** Whether clients on the relay's own machine have no such limit: a relay on localhost whose operator has set none. */
  sparesLoopback?: boolean
}

/** Whether the relay gives dedicated ports. */
export interface PortGates {
  udp: boolean
  tcp: boolean
}

/** A range of ports; both ends belong to it. */
export interface PortRange {
  min: number
  max: number
}
