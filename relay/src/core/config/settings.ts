// The settings of a relay. A feature adds its own to the interface in its `settings.ts`, so that they go when its folder goes.

import type { ApprovalMode } from '@svc/protocol'
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
  /** The ports that visitors may use in URLs: that of {@link url}, and {@link sniPort}. */
  ownPorts: readonly number[]
  /** IP address of all listeners that have no address of their own; undefined: all addresses of this machine. */
  listenAddress: string | undefined
  /** Directory of identity, policy and certificates. */
  identityPath: string
  /** Secret with which an administrator logs in; undefined turns administration off. */
  adminToken: string | undefined
  /** Who may register, as the mode of the policy; undefined: the policy decides. */
  registration: ApprovalMode | undefined
  /** Milliseconds for which a friendly name stays with its identity after its lease. */
  nameGraceMs: number
  /** Proxies that the relay trusts to report their clients' addresses. */
  trustedProxies: TrustedProxies
  rateLimits: RateLimitSettings
  logLevel: string
  /** Processes of the relay, the primary included. */
  workers: number
  /** Directory of static files for the root host; undefined: the relay serves its built-in pages. */
  siteDir: string | undefined
}

/** What the core must know about features: each feature's settings provide it. */
export interface FeatureFacts {
  /** Whether the relay may get certificates by ACME: the operator agrees to the authority's terms of service. */
  isAcmeAgreed: boolean
  /** Whether the initial policy grants UDP and TCP ports. */
  portGates: PortGates
  /** Range of dedicated ports, for both TCP and UDP; undefined: the relay has none. */
  portRange: PortRange | undefined
  /** Ports that no site gets, since a feature uses them. */
  reservedPorts: readonly number[]
  /** Whether other relays connect to this one over an overlay. */
  hasOverlay: boolean
  /**
   * Port of the relay's server on the overlay that the relay creates, its only service there; undefined: it creates
   * none.
   */
  overlayPort: number | undefined
}

/** All settings of a relay, read from the environment and validated. */
export interface Settings extends CoreSettings, FeatureFacts {
  /** The names of all settings that the relay knows. */
  names: readonly string[]
  /** The values of the variables that are set. */
  given: ReadonlyMap<string, string>
  /** Variables that are set but unknown to the relay. */
  unused: readonly UnusedSetting[]
}

/** Limits for requests of clients that are not authenticated yet, in units a minute. */
export interface RateLimitSettings {
  networkPerMinute: number
  relayPerMinute: number
  /** Whether clients on the relay's own machine are exempt: on localhost, unless the operator set a limit. */
  sparesLoopback?: boolean
}

/** Whether the relay grants dedicated ports. */
export interface PortGates {
  udp: boolean
  tcp: boolean
}

/** A range of ports; both ends are inclusive. */
export interface PortRange {
  min: number
  max: number
}
