// Parses the arguments of `svc` and the environment to a checked command. Only importer of commander.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import { LOG_LINES_DEFAULT } from '../../agent/limits.ts'
import { CARRIERS, type CarrierKind } from '../../carrier/kinds.ts'
import { RELEASE_VERSION } from '../../version.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import type { Print } from '../report/report.ts'
import { wordsOf } from './word-list.ts'

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

/** The values of `--certificate`. */
export const CERTIFICATES = ['own', 'shared'] as const
/** The values of `--tls-min-version`. */
export const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
/** The values of `--x402-network`. */
export const PAYMENT_NETWORKS = ['sui:mainnet', 'sui:testnet'] as const
const CONFIG_PATH = 'svc.toml'
/** Says what is missing where neither the command line nor the user's settings name a relay. */
export const NO_RELAY =
  'no relay: give --relay URL, set SVC_URL, or remember one with svc config set relay URL'
/** The number of relays for which `--discover` without a value asks. */
const DISCOVERED = '3'

const EXIT_CODES = `
Exit codes: 0 ended when asked to, 1 unforeseen, 2 wrong usage, 3 relay unreachable or not trusted,
4 refused by the relay, 5 incompatible relay, 6 broken identity, 7 ended by the relay while it was online,
8 a certificate is not what it should be (doctor).`

export function parseCommandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: Print,
): ParsedCommand | PrintedText {
  let chosen: ParsedCommand | undefined
  const program = new Command('svc')
    .description('Publishes what runs on this machine at an HTTPS URL; TLS ends here, not at the relay.')
    .version(RELEASE_VERSION, '-v, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => print.log(withoutEnd(text)),
      writeErr: (text) => print.error(withoutEnd(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')),
    })
    .addHelpText('after', EXIT_CODES)

  site(program.command('expose'), env)
    .description('a local HTTP server, TLS server, TCP or UDP service')
    .argument('[target]', 'the HTTP server: a port, host:port, a URL, or grpc://port')
    .option(
      '--tls <target>',
      'a TLS server, which gets the visitors’ TLS as it is, in place of an HTTP server',
    )
    .option('--tcp <target>', 'a TCP service, at a port of its own on the relay')
    .option('--udp <target>', 'a UDP service, at a port of its own on the relay')
    .action((target, options) => {
      chosen = { command: 'expose', target, options }
    })
  site(program.command('serve'), env)
    .description('the files of a folder')
    .argument('<folder>')
    .option('--listing', 'list folders that have no index.html', false)
    .option('--hidden', 'serve names that begin with a dot, too', false)
    .option(
      '--cache',
      'let the relay keep a copy, and show it at the canonical URL while svc is away; the relay can read what passes there',
      false,
    )
    .addOption(
      new Option(
        '--cache-ttl <seconds>',
        'for how long it shows the copy then [as long as the relay allows]',
      ).argParser(Number),
    )
    .action((folder, options) => {
      chosen = { command: 'serve', folder, options }
    })
  json(program.command('start'))
    .description('all that a config file names')
    .option('-c, --config <file>', 'the config file', CONFIG_PATH)
    .action((options) => {
      chosen = { command: 'start', options }
    })
  json(program.command('status'))
    .description('what runs on this machine')
    .action((options) => {
      chosen = { command: 'status', options }
    })
  relays(json(program.command('relays')), env)
    .description('whether relays are there, what they speak, and how far away they are')
    .action((options) => {
      chosen = { command: 'relays', options }
    })
  siteName(named(shared(program.command('doctor'), env), env))
    .description('whether a visit from here sees the certificate that this machine keeps for a site')
    .action((options) => {
      chosen = { command: 'doctor', options }
    })
  configCommands(program, (command) => {
    chosen = command
  })
  agentCommands(program, (command) => {
    chosen = command
  })
  shared(program.command('identity'), env)
    .description('the address that the canonical URL is bound to; a new identity when there is none')
    .action((options) => {
      chosen = { command: 'identity', options }
    })

  try {
    program.parse(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage }
  }
  return chosen ?? { exitCode: EXIT.usage }
}

function configCommands(program: Command, choose: (command: ParsedCommand) => void): void {
  const config = program
    .command('config')
    .description('the relay and CA that svc remembers, and the config file of svc start')
  json(config.command('set'))
    .description('remembers a relay, or several, or the CA of it, for all commands of this user')
    .argument('<key>', 'relay or ca')
    .argument('<values...>', 'URLs, or the path of a PEM file')
    .action((key, values, options) => choose({ command: 'config set', key, values, options }))
  for (const [name, description] of [
    ['get', 'prints what is remembered'],
    ['unset', 'forgets it'],
  ] as const)
    json(config.command(name))
      .description(description)
      .argument('<key>', 'relay or ca')
      .action((key, options) => choose({ command: `config ${name}`, key, options }))
  json(config.command('list'))
    .description('prints all that is remembered')
    .action((options) => choose({ command: 'config list', options }))
  json(config.command('init'))
    .description('writes a config file that explains itself; never over another')
    .argument('[file]', 'where to', CONFIG_PATH)
    .action((path, options) => choose({ command: 'config init', path, options }))
}

function agentCommands(program: Command, choose: (command: AgentCommand) => void): void {
  const agent = program
    .command('agent')
    .description('one process for all tunnels of svc.toml, which programs and a page can control')
  const command = (name: string, description: string): Command =>
    json(agent.command(name))
      .description(description)
      .option('--state-dir <folder>', 'the agent’s own folder [~/.local/state/svc/agent]')
  command('run', 'starts it in the background')
    .option('-c, --config <file>', 'the config file', CONFIG_PATH)
    .option('--foreground', 'run here until it is ended, as services of the system do', false)
    .addOption(new Option('--detached', 'it is the process in the background').default(false).hideHelp())
    .action((options) => choose({ command: 'agent run', options }))
  for (const [name, description] of [
    ['stop', 'takes its tunnels off their relays and ends it'],
    ['restart', 'ends it and starts it again with its config file'],
    ['status', 'where it answers, and each of its tunnels'],
    ['open', 'the address of its page, which opens it once within a minute'],
  ] as const)
    command(name, description).action((options) => choose({ command: `agent ${name}`, options }))
  command('dashboard', 'its live view, with keys').action((options) =>
    choose({ command: 'agent dashboard', options }),
  )
  command('install', 'makes it a service that starts with the machine, and starts it')
    .option('-c, --config <file>', 'the config file', CONFIG_PATH)
    .option('--system', 'a service of the system instead of one of this user; it needs root', false)
    .option('--account <name>', 'the account of a service of the system [SUDO_USER]')
    .option('--print', 'print the file that describes the service, and install nothing', false)
    .action((options) => choose({ command: 'agent install', options }))
  command('uninstall', 'ends the service and removes it; the files of the agent stay')
    .option('--system', 'the service of the system', false)
    .action((options) => choose({ command: 'agent uninstall', options }))
  command('logs', 'the last lines of its log')
    .addOption(new Option('--lines <count>', 'how many').argParser(Number).default(LOG_LINES_DEFAULT))
    .action((options) => choose({ command: 'agent logs', options }))
}

/** A printer of lines ends the last line itself. */
function withoutEnd(text: string): string {
  return text.replace(/\n$/, '')
}

function site(command: Command, env: NodeJS.ProcessEnv): Command {
  return siteName(relays(shared(command, env), env))
    .addOption(
      new Option(
        '--route <place=target>',
        'what answers below a /path, at a host, or both; several times. "/path=target GET:0.01" is paid with USDC',
      )
        .argParser((route, before: string[]) => [...before, route])
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--via <urls>',
        'one to three relays behind --relay, separated by commas: svc connects to the last, and each knows its neighbours alone',
      ).argParser((urls, before: string[] = []) => [...before, ...wordsOf(urls)]),
    )
    .addOption(
      new Option(
        '--allow-wallet <address>',
        'let in only visitors who sign in with this wallet; several times',
      ).argParser((addresses, before: string[] = []) => [...before, ...wordsOf(addresses)]),
    )
    .option('--wallet-rpc <url>', 'the JSON-RPC endpoint that is asked about contract wallets among them')
    .option('--x402-pay-to <address>', 'who gets what visitors pay: 0x and 64 hexadecimal digits')
    .addOption(
      new Option('--x402-network <network>', 'where they pay [sui:mainnet]').choices(PAYMENT_NETWORKS),
    )
    .option(
      '--x402-facilitator <url>',
      'who checks payments and carries them out: a URL, or self for this process [the relay]',
    )
    .addOption(
      new Option(
        '--x402-endpoints <urls>',
        'full nodes for the facilitator self, separated by commas',
      ).argParser((urls, before: string[] = []) => [...before, ...wordsOf(urls)]),
    )
    .addOption(
      new Option(
        '--allow-field <name>',
        'let a field of requests through that svc removes, such as X-Forwarded-For; several times',
      )
        .argParser((names, before: string[]) => [...before, ...wordsOf(names)])
        .default([], 'none'),
    )
    .option(
      '--host-header <host>',
      'the Host that the target gets: preserve for that of visitors, rewrite for its own, or one [preserve, unless the target refuses it]',
    )
    .option('--target-ca <file>', 'PEM of the authority behind the certificate of an https: target')
    .option('--target-server-name <name>', 'the name that this certificate is for [the host of the target]')
    .addOption(
      new Option('--tls-min-version <version>', 'the oldest TLS that visitors may speak [TLSv1.3]').choices(
        TLS_VERSIONS,
      ),
    )
    .addOption(new Option('--carrier <kind>', 'how visitors come').choices(CARRIERS).default('native'))
    .addOption(
      new Option(
        '--certificate <whose>',
        'whose certificate visitors see: the site’s own, or the relay’s [own]',
      ).choices(CERTIFICATES),
    )
    .option('--no-hsts', 'do not tell browsers to use https alone for the site’s hostnames')
    .option('--overlay', 'prefer visitors through a gateway of the relay’s choice, where it has one', false)
    .addOption(
      new Option('--allow-local-gateways', 'take gateways of this machine, too: for tests').hideHelp(),
    )
    .option('--allow-canonical', 'the canonical URL alone will do when the name is taken', false)
    .option(
      '--ban-mitm',
      'leave a relay that is caught at answering visitors itself, instead of only saying so',
      false,
    )
    .option('--description <text>', 'what the relay’s list says of a site with --listed')
    .option('--owner <text>', 'whose site it is, for that list')
    .addOption(
      new Option('--tag <word>', 'a tag in that list; several times')
        .argParser((tags, before: string[]) => [...before, ...wordsOf(tags)])
        .default([], 'none'),
    )
    .option('--thumbnail <picture>', 'a picture for that list: a URL, or a file')
    .option('--listed', 'show the site on the relay’s public list', false)
    .addOption(new Option('--hide').hideHelp())
    .on('option:hide', () =>
      command.error('error: --hide is gone: a site is on no list unless it has --listed'),
    )
}

function siteName(command: Command): Command {
  return command.option('-n, --name <name>', 'the site’s name [made of the identity’s address]')
}

function relays(command: Command, env: NodeJS.ProcessEnv): Command {
  const discover = new Option('--discover [count]', 'ask the relay for others, and take so many more')
    .argParser(Number)
    .preset(DISCOVERED)
    .default(0, 'none')
  return named(command.addOption(discover), env)
}

/** The relays that are given by their URLs. */
function named(command: Command, env: NodeJS.ProcessEnv): Command {
  const known = wordsOf(env.SVC_URL ?? '')
  const relay = new Option('-r, --relay <url>', 'the relay; may be given several times [SVC_URL]')
    .argParser((urls, before: string[]) => [...(before === known ? [] : before), ...wordsOf(urls)])
    .default(known, known.join())
  return command
    .addOption(relay)
    .option('--ca <file>', 'PEM of the authority to trust for the relay instead of the system’s')
    .option(
      '--proxy <url>',
      'the HTTP proxy through which the relay is reached [HTTPS_PROXY, but for NO_PROXY]',
    )
}

function shared(command: Command, env: NodeJS.ProcessEnv): Command {
  return json(command).option(
    '--identity-path <file>',
    'the identity’s file [IDENTITY_PATH]',
    identityPathOf(env),
  )
}

function json(command: Command): Command {
  return command.option('--json', 'a JSON object a line', false)
}

export function identityPathOf(env: NodeJS.ProcessEnv): string {
  return env.IDENTITY_PATH || join(settingsFolder(env), 'identity.json')
}

/** @returns the folder for settings that the XDG Base Directory Specification says */
export function settingsFolder(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'svc')
}
