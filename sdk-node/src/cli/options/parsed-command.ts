// What the arguments of `svc` and a config file are parsed to: a command with its options.

import type { CarrierKind } from '../../carrier/kinds.ts'
import type { ExitCode } from '../report/exit-codes.ts'

/** The values of `--certificate`. */
export const CERTIFICATES = ['own', 'shared'] as const
/** The values of `--tls-min-version`. */
export const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
/** The values of `--x402-network`. */
export const PAYMENT_NETWORKS = ['sui:mainnet', 'sui:testnet'] as const

interface JsonOption {
  json: boolean
}

interface SharedOptions extends JsonOption {
  identityPath: string
}

export interface SiteOptions extends SharedOptions {
  relay: string[]
  name?: string
  ca?: string
  /** The URL of an HTTP proxy; empty: none. */
  proxy?: string
  /** The relays behind the one that visitors come to. */
  via?: string[]
  carrier: CarrierKind
  certificate?: 'own' | 'shared'
  hsts?: boolean
  allowCanonical: boolean
  listed: boolean
  banMitm: boolean
  overlay: boolean
  allowLocalGateways?: boolean
  /** The number of relays to take in addition to the named ones. */
  discover: number
  /** The routes, each as `PLACE=TARGET`, with ` METHODS:AMOUNT` behind it for each price. */
  route: string[]
  /** The addresses of the wallets that may sign in; without any, every visitor comes in. */
  allowWallet?: string[]
  /** Claimed fields of requests that the target gets. */
  allowField: string[]
  /** The endpoint that is asked about contract wallets. */
  walletRpc?: string
  /** The address that visitors pay. */
  x402PayTo?: string
  x402Network?: (typeof PAYMENT_NETWORKS)[number]
  /** The URL of a facilitator, or `self`. */
  x402Facilitator?: string
  /** Full nodes for the facilitator `self`. */
  x402Endpoints?: string[]
  targetCa?: string
  targetServerName?: string
  tlsMinVersion?: (typeof TLS_VERSIONS)[number]
  /** The host that a target is told: `preserve`, `rewrite`, or one. */
  hostHeader?: string
  /** The relay's list of sites shows this text. */
  description?: string
  owner?: string
  tag: string[]
  /** A URL of a picture, or the path of one. */
  thumbnail?: string
}

/** The options of a folder that is served. */
interface FolderSettings {
  listing: boolean
  hidden: boolean
  /** The relay keeps a copy of the folder. */
  cache: boolean
  /** Seconds for which the relay shows the copy when the site is away; undefined: as long as it allows. */
  cacheTtl?: number
}

/** A site to run, from the command line or from a config file. */
export type SiteCommand =
  | {
      command: 'expose'
      target: string | undefined
      options: SiteOptions & { tcp?: string; udp?: string; tls?: string }
    }
  | { command: 'serve'; folder: string; options: SiteOptions & FolderSettings }

export type ParsedCommand =
  | SiteCommand
  | { command: 'identity'; options: SharedOptions }
  | { command: 'status'; options: JsonOption }
  | { command: 'relays'; options: JsonOption & Pick<SiteOptions, 'relay' | 'ca' | 'proxy' | 'discover'> }
  | { command: 'doctor'; options: SharedOptions & Pick<SiteOptions, 'relay' | 'ca' | 'proxy' | 'name'> }
  | { command: 'start'; options: JsonOption & { config: string } }
  | { command: 'config init'; path: string; options: JsonOption }
  | { command: 'config set'; key: string; values: string[]; options: JsonOption }
  | { command: 'config get' | 'config unset'; key: string; options: JsonOption }
  | { command: 'config list'; options: JsonOption }
  | AgentCommand

interface AgentOptions extends JsonOption {
  /** The state directory; undefined: that of the user. */
  stateDir?: string
}

export interface UninstallOptions extends AgentOptions {
  /** The service is the system's, not the user's. */
  system: boolean
}

export interface InstallOptions extends UninstallOptions {
  config: string
  /** The account under which a service of the system runs. */
  account?: string
  /** Shows the file that describes the service, and installs nothing. */
  print: boolean
}

export type AgentCommand =
  | {
      command: 'agent run'
      options: AgentOptions & { config: string; foreground: boolean; detached: boolean }
    }
  | { command: 'agent stop' | 'agent restart' | 'agent status' | 'agent open'; options: AgentOptions }
  | { command: 'agent logs'; options: AgentOptions & { lines: number } }
  | { command: 'agent dashboard'; options: AgentOptions }
  | { command: 'agent install'; options: InstallOptions }
  | { command: 'agent uninstall'; options: UninstallOptions }

/** The parser printed something instead: help, the version, or an error. */
export interface PrintedText {
  exitCode: ExitCode
}
