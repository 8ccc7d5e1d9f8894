// The result of parsing arguments or a config file: a command with its options.

import type { Shell } from '../completion/shells.ts'
import type { ExitCode } from '../report/exit-codes.ts'
import type { AccessFlags } from './access-options.ts'
import type { FolderOptions, ServiceOptions, TunnelOptions } from './tunnel-options.ts'
import type { WebhookFlags } from './webhook-options.ts'

interface JsonOption {
  json: boolean
}

interface SharedOptions extends JsonOption {
  identityPath: string
}

export interface SiteOptions extends JsonOption, TunnelOptions, AccessFlags, WebhookFlags {
  /** The HAR file that a tunnel records in, of `svc record`. */
  record?: string
  /** The HAR file that a tunnel answers from, of `svc replay`. */
  replay?: string
}

export interface WebhookSendOptions extends JsonOption, Pick<WebhookFlags, 'webhookHmac'> {
  /** A URL, or a path at the site that runs on this machine. */
  to: string
  secret: string
  ca?: string | undefined
}

/** A site to run, from the command line or from a config file. */
export type SiteCommand =
  | {
      command: 'expose'
      target: string | undefined
      options: SiteOptions & ServiceOptions
    }
  | { command: 'serve'; folder: string; options: SiteOptions & FolderOptions }

export type ParsedCommand =
  | SiteCommand
  | { command: 'identity'; options: SharedOptions }
  | { command: 'hash-password'; options: JsonOption }
  | { command: 'completion'; shell: Shell; options: JsonOption }
  | { command: 'webhook list'; options: JsonOption }
  | { command: 'webhook send'; sender: string; name: string | undefined; options: WebhookSendOptions }
  | { command: 'status'; options: JsonOption }
  | { command: 'knock list'; options: JsonOption }
  | {
      command: 'knock admit' | 'knock refuse'
      code: string
      options: JsonOption & { always: boolean }
    }
  | { command: 'share'; tunnel: string | undefined; options: JsonOption & ShareFlags }
  | { command: 'relays'; options: JsonOption & Pick<SiteOptions, 'relay' | 'ca' | 'proxy' | 'discover'> }
  | { command: 'demo'; options: SharedOptions & Pick<SiteOptions, 'relay' | 'ca' | 'proxy' | 'name'> }
  | { command: 'doctor'; options: SharedOptions & Pick<SiteOptions, 'relay' | 'ca' | 'proxy' | 'name'> }
  | DomainCommand
  | { command: 'start'; options: JsonOption & { config: string } }
  | { command: 'config init'; path: string; options: JsonOption }
  | { command: 'config set'; key: string; values: string[]; options: JsonOption }
  | { command: 'config get' | 'config unset'; key: string; options: JsonOption }
  | { command: 'config list'; options: JsonOption }
  | AgentCommand

interface DomainOptions extends SharedOptions, Pick<SiteOptions, 'relay' | 'name'> {
  /** Whether the domain is led by a CNAME. */
  cname: boolean
  /** Servers that are asked in place of the authoritative ones. */
  server: string[]
}

export type DomainCommand =
  | { command: 'domain records'; domain: string; options: DomainOptions }
  | { command: 'domain check'; domain: string; options: DomainOptions }
  | { command: 'domain set'; domain: string; options: DomainOptions & { provider: string; yes: boolean } }

/** What `svc share` has to do: without the first two it makes a link. */
interface ShareFlags {
  list?: boolean
  /** The id of a link. */
  withdraw?: string
  expires?: string
  once?: boolean
  note?: string
  path?: string
}

interface AgentOptions extends JsonOption {
  /** The state directory; undefined for the user's default. */
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
  /** Prints the service's file, and installs nothing. */
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

/** The parser printed help, the version or an error instead. */
export interface PrintedText {
  exitCode: ExitCode
}
