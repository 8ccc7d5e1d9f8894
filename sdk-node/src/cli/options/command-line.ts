// Parses the arguments of `svc` and the environment to a checked command. The only importer of commander.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { Argument, Command, CommanderError, Help, Option } from 'commander'
import { LOG_LINES_DEFAULT } from '../../agent/api-messages.ts'
import { RELEASE_VERSION } from '../../version.ts'
import { SHELLS } from '../completion/shells.ts'
import { EXIT } from '../report/exit-codes.ts'
import type { Print } from '../report/report.ts'
import { ACCESS_OPTIONS } from './access-options.ts'
import { EXAMPLES } from './help-texts.ts'
import { COUNT } from './option-kinds.ts'
import type { AgentCommand, ParsedCommand, PrintedText } from './parsed-command.ts'
import {
  FOLDER_OPTIONS,
  SERVICE_OPTIONS,
  type Table,
  TUNNEL_OPTIONS,
  type TunnelOption,
} from './tunnel-options.ts'
import { WEBHOOK_OPTIONS } from './webhook-options.ts'
import { wordsOf } from './word-list.ts'

const CONFIG_PATH = 'svc.toml'
/** The message when neither the command line nor the user's settings name a relay. */
export const NO_RELAY =
  'no relay: give --relay URL, set SVC_URL, or remember one with svc config set relay URL'
/** The value of `--discover` without a count. */
const DISCOVERED = '3'

/** Headings of the help. */
const OUTPUT = 'Output:'
const RELAY = 'Relay:'
/** The width of the help, in columns. */
const HELP_WIDTH = 80

/** The help groups whose options do not depend on the environment. */
const WALLETS = ['allowWallet', 'walletRpc'] as const
const CLIENT_CERTIFICATES = ['clientCa', 'clientCertOptional', 'clientCrl'] as const
const TLS = ['certificate', 'tlsMinVersion', 'hsts', 'banMitm', 'awayPage'] as const
const DOMAINS = [
  'domain',
  'acmeAgreeTerms',
  'acmeEmail',
  'acmeDirectory',
  'acmeEab',
  'domainCertificate',
  'domainKey',
] as const
const TRAFFIC_RULES = ['header', 'requestHeader', 'cors', 'maintenance'] as const
const PAYMENTS = ['x402PayTo', 'x402Network', 'x402Facilitator', 'x402Endpoints'] as const
const LIST = ['listed', 'description', 'owner', 'tag', 'thumbnail'] as const

type Choose = (command: ParsedCommand) => void

export function parseCommandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: Print,
): ParsedCommand | PrintedText {
  let chosen: ParsedCommand | undefined
  const choose: Choose = (command) => {
    chosen = command
  }
  try {
    programOf(env, print, choose).parse(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage }
  }
  return chosen ?? { exitCode: EXIT.usage }
}

/** Returns the commands of `svc` with their options, from which commander makes the help. */
export function programOf(env: NodeJS.ProcessEnv, print: Print, choose: Choose): Command {
  const width = (): number => Math.min(process.stdout.columns || HELP_WIDTH, HELP_WIDTH)
  const program = new Command('svc')
    .description('Publishes what runs on this machine at an HTTPS URL; TLS ends here, not at the relay.')
    .version(RELEASE_VERSION, '-v, --version', 'print the release')
    .helpOption('-h, --help', 'print this')
    .exitOverride()
    .configureHelp({ optionDescription: withoutUsualDefault })
    .configureOutput({
      writeOut: (text) => print.log(withoutEnd(text)),
      writeErr: (text) => print.error(withoutEnd(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')),
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
    .addHelpText('after', EXAMPLES.svc)
  publishCommands(program.commandsGroup('Publish:'), env, choose)
  agentCommands(program, choose)
  lookCommands(program.commandsGroup('Look:'), env, choose)
  configCommands(program.commandsGroup('Settings and help:'), choose)
  json(program.command('completion'))
    .description('prints a script by which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES.completion)
    .action((shell, options) => choose({ command: 'completion', shell, options }))
  program.addHelpCommand(helpCommand().helpGroup('Settings and help:'))
  return program
}

function publishCommands(program: Command, env: NodeJS.ProcessEnv, choose: Choose): void {
  site(program.command('expose').alias('http'), env, SERVICE_OPTIONS)
    .description('a local HTTP server, TLS server, TCP or UDP service')
    .argument('[target]', 'the HTTP server: a port, host:port, a URL, or grpc://port')
    .addHelpText('after', EXAMPLES.expose)
    .action((target, options) => choose({ command: 'expose', target, options }))
  site(program.command('serve'), env, FOLDER_OPTIONS)
    .description('the files of a folder')
    .argument('<folder>')
    .addHelpText('after', EXAMPLES.serve)
    .action((folder, options) => choose({ command: 'serve', folder, options }))
  site(program.command('record'), env, {})
    .description('a local HTTP server, whose exchanges are recorded in a new HAR file')
    .argument('<target>', 'the HTTP server, as in expose')
    .argument('<file>', 'the file, which svc replay answers from')
    .addHelpText('after', EXAMPLES.record)
    .action((target, record, options) =>
      choose({ command: 'expose', target, options: { ...options, record } }),
    )
  site(program.command('replay'), env, {})
    .description('the answers of a HAR file, by method, path and query, in their order')
    .argument('<file>', 'such as svc record wrote')
    .addHelpText('after', EXAMPLES.replay)
    .action((replay, options) =>
      choose({ command: 'expose', target: undefined, options: { ...options, replay } }),
    )
  output(identity(named(siteName(program.command('demo').optionsGroup('Site and relay:')), env), env))
    .description('a page to try it: tells what its visitors do')
    .addHelpText('after', EXAMPLES.demo)
    .action((options) => choose({ command: 'demo', options }))
  json(program.command('start').option('-c, --config <file>', 'the config file', CONFIG_PATH))
    .description('all that a config file names')
    .addHelpText('after', EXAMPLES.start)
    .action((options) => choose({ command: 'start', options }))
}

function lookCommands(program: Command, env: NodeJS.ProcessEnv, choose: Choose): void {
  json(program.command('status'))
    .description('what runs on this machine')
    .action((options) => choose({ command: 'status', options }))
  knockCommands(program, choose)
  shareCommand(program, choose)
  webhookCommands(program, choose)
  output(relays(program.command('relays').optionsGroup(RELAY), env))
    .description('whether relays are there, what they speak, and how far away they are')
    .addHelpText('after', EXAMPLES.relays)
    .action((options) => choose({ command: 'relays', options }))
  output(identity(named(siteName(program.command('doctor').optionsGroup('Site and relay:')), env), env))
    .description('whether a visit from here sees the certificate that this machine keeps for a site')
    .addHelpText('after', EXAMPLES.doctor)
    .action((options) => choose({ command: 'doctor', options }))
  domainCommands(program, env, choose)
  json(identity(program.command('identity'), env))
    .description('the address that the canonical URL is bound to; a new identity when there is none')
    .action((options) => choose({ command: 'identity', options }))
  json(program.command('hash-password'))
    .description('reads a password from standard input, and prints the hash to use in its place')
    .action((options) => choose({ command: 'hash-password', options }))
}

function domainCommands(program: Command, env: NodeJS.ProcessEnv, choose: Choose): void {
  const domain = program
    .command('domain')
    .description('the DNS records that lead a domain of yours to a site')
    .addHelpCommand(helpCommand())
    .addHelpText('after', EXAMPLES.domain)
  const command = (name: string, description: string): Command => {
    const asked = domain
      .command(name)
      .description(description)
      .argument('<domain>', 'such as shop.example.org')
    const relay = siteName(asked.optionsGroup('Site and relay:')).addOption(relayOption(env))
    return identity(relay, env)
      .optionsGroup('Records:')
      .option(
        '--cname',
        'a CNAME in place of addresses: it follows the relay, and CAA cannot protect it',
        false,
      )
      .addOption(
        new Option('--server <address>', 'ask this DNS server, and not the authoritative ones; repeatable')
          .argParser(appended)
          .default([], 'none'),
      )
  }
  output(command('records', 'prints the records to set')).action((name, options) =>
    choose({ command: 'domain records', domain: name, options }),
  )
  output(command('check', 'says of each record what each name server has')).action((name, options) =>
    choose({ command: 'domain check', domain: name, options }),
  )
  output(
    command('set', 'adds the records that are missing, and changes no others')
      .requiredOption(
        '--provider <name>',
        'cloudflare, gcloud, hetzner, njalla, route53, vultr or exec:/path',
      )
      .option('--yes', 'add them without a question', false),
  ).action((name, options) => choose({ command: 'domain set', domain: name, options }))
}

function knockCommands(program: Command, choose: Choose): void {
  const knock = program
    .command('knock')
    .description('who waits to be let in, and the answer to them')
    .addHelpCommand(helpCommand())
    .addHelpText('after', EXAMPLES.knock)
  json(knock.command('list'))
    .description('the visitors who wait, each with its number')
    .action((options) => choose({ command: 'knock list', options }))
  for (const [name, description, always] of [
    ['admit', 'lets a visitor in for 24 hours', 'for as long as the site runs'],
    ['refuse', 'refuses a visitor this time', 'always, and its network, for as long as the site runs'],
  ] as const)
    json(knock.command(name).option('--always', always, false))
      .description(description)
      .argument('<number>', 'the four digits of the visitor')
      .action((code, options) => choose({ command: `knock ${name}`, code, options }))
}

function shareCommand(program: Command, choose: Choose): void {
  const made = ['expires', 'once', 'note', 'path']
  json(program.command('share'))
    .description('makes a link that lets in everybody who has it, lists the links, or withdraws one')
    .argument('[tunnel]', 'the name or URL of a running tunnel [the only one]')
    .option('--expires <time>', 'the link ends after a time such as 30m, 2h or 7d, or at a date')
    .option('--once', 'the link signs in once')
    .option('--note <text>', 'what the list says of it, such as for whom it is')
    .option('--path <path>', 'the page at which the visitor arrives')
    .addOption(new Option('--list', 'print the links, who used them and how often').conflicts(made))
    .addOption(
      new Option('--withdraw <id>', 'end a link, and the sessions that came by it').conflicts([
        ...made,
        'list',
      ]),
    )
    .addHelpText('after', EXAMPLES.share)
    .action((tunnel, options) => choose({ command: 'share', tunnel, options }))
}

function webhookCommands(program: Command, choose: Choose): void {
  const webhook = program
    .command('webhook')
    .description('sends signed webhooks of known senders to a server of yours')
    .addHelpCommand(helpCommand())
    .addHelpText('after', EXAMPLES.webhook)
  json(webhook.command('list'))
    .description('the webhooks that can be sent')
    .action((options) => choose({ command: 'webhook list', options }))
  json(webhook.command('send'))
    .description('sends one')
    .argument('<sender>', 'such as github')
    .argument('[event]', 'such as push; without it, the first of the sender')
    .requiredOption('--to <url>', 'a URL, or a path at the site that svc runs on this machine')
    .requiredOption('--secret <secret>', 'what signs it: the text, file:PATH, env:NAME or -')
    .addOption(optionOf(WEBHOOK_OPTIONS.webhookHmac))
    .option('--ca <file>', 'PEM of the CA to trust for the URL instead of the system’s')
    .action((sender, name, options) => choose({ command: 'webhook send', sender, name, options }))
}

function configCommands(program: Command, choose: Choose): void {
  const config = program
    .command('config')
    .description('the relay and CA that svc remembers, and the config file of svc start')
    .addHelpCommand(helpCommand())
    .addHelpText('after', EXAMPLES.config)
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
    .addHelpCommand(helpCommand())
    .addHelpText('after', EXAMPLES.agent)
  const command = (name: string, description: string): Command =>
    json(agent.command(name))
      .description(description)
      .option('--state-dir <folder>', 'the agent’s own folder [~/.local/state/svc/agent]')
  // To those who know stop and restart, it is start.
  command('run', 'starts it in the background')
    .alias('start')
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

/** Hides a default that means "off". */
function withoutUsualDefault(option: Option): string {
  return new Help()
    .optionDescription(option)
    .replace(/ \(default: (?:false|none|\[\])(?:, preset: "3")?\)/, '')
}

/** Removes the last line end, which the printer adds. */
function withoutEnd(text: string): string {
  return text.replace(/\n$/, '')
}

/** Adds the options of a tunnel, in groups. @param own the options of the command's own targets */
function site<O extends object>(command: Command, env: NodeJS.ProcessEnv, own: Table<O>): Command {
  add(command.optionsGroup('Target:'), own)
  add(command, TUNNEL_OPTIONS, ['route', 'hostHeader', 'allowField', 'targetCa', 'targetServerName'])
  identity(relays(siteName(command.optionsGroup('Relay and address:')), env), env)
  command.addOption(
    optionOf(TUNNEL_OPTIONS.invitation).default(env.SVC_INVITATION || undefined, 'SVC_INVITATION'),
  )
  add(command, TUNNEL_OPTIONS, ['allowCanonical', 'via', 'carrier', 'overlay'])
  command.addOption(optionOf(TUNNEL_OPTIONS.allowLocalGateways).hideHelp())
  add(command.optionsGroup('Access:'), ACCESS_OPTIONS)
  add(command, TUNNEL_OPTIONS, [...WALLETS, ...CLIENT_CERTIFICATES])
  add(command.optionsGroup('Webhooks:'), WEBHOOK_OPTIONS)
  add(command.optionsGroup('Custom domains:'), TUNNEL_OPTIONS, DOMAINS)
  add(command.optionsGroup('TLS:'), TUNNEL_OPTIONS, TLS)
  add(command.optionsGroup('Traffic rules:'), TUNNEL_OPTIONS, TRAFFIC_RULES)
  add(command.optionsGroup('Payments:'), TUNNEL_OPTIONS, PAYMENTS)
  add(command.optionsGroup('List of sites:'), TUNNEL_OPTIONS, LIST)
  command
    .addOption(new Option('--hide').hideHelp())
    .on('option:hide', () =>
      command.error('error: --hide is gone: a site is on no list unless it has --listed'),
    )
  add(output(command), TUNNEL_OPTIONS, ['log', 'logFormat', 'logAddresses', 'inspect', 'proto'])
  return command
}

/** Adds a table's options to the help, in the order of `names`, or all of them. */
function add<O extends object>(
  command: Command,
  table: Table<O>,
  names: readonly (keyof O)[] = Object.keys(table) as (keyof O)[],
): void {
  for (const name of names) command.addOption(optionOf(table[name]))
}

function optionOf({ flags = '', help, kind, fallback }: TunnelOption<unknown, unknown>): Option {
  const option = new Option(flags, help)
  if (kind.choices) option.choices(kind.choices)
  if (kind === COUNT) option.argParser(Number)
  if (kind.isList) option.argParser(kind.isWhole ? appended : extended)
  if (fallback !== undefined) option.default(fallback, kind.isList ? 'none' : undefined)
  return option
}

const appended = (text: string, before: string[] = []): string[] => [...before, text]
const extended = (text: string, before: string[] = []): string[] => [...before, ...wordsOf(text)]

function siteName(command: Command): Command {
  return command.addOption(optionOf(TUNNEL_OPTIONS.name))
}

function relays(command: Command, env: NodeJS.ProcessEnv): Command {
  return named(command, env).addOption(
    optionOf(TUNNEL_OPTIONS.discover).preset(DISCOVERED).default(0, 'none'),
  )
}

/** Adds the options that name relays. */
function named(command: Command, env: NodeJS.ProcessEnv): Command {
  add(command.addOption(relayOption(env)), TUNNEL_OPTIONS, ['ca', 'proxy'])
  return command
}

function relayOption(env: NodeJS.ProcessEnv): Option {
  const known = wordsOf(env.SVC_URL ?? '')
  return optionOf(TUNNEL_OPTIONS.relay)
    .argParser((urls, before: string[]) => extended(urls, before === known ? [] : before))
    .default(known, known.join(', '))
}

function identity(command: Command, env: NodeJS.ProcessEnv): Command {
  const described = env.IDENTITY_PATH ? 'that of IDENTITY_PATH' : '~/.config/svc/identity.json'
  return command.addOption(optionOf(TUNNEL_OPTIONS.identityPath).default(identityPathOf(env), described))
}

/** Adds the last group of a command. */
function output(command: Command): Command {
  return json(command.optionsGroup(OUTPUT)).addHelpOption(helpOption().helpGroup(OUTPUT))
}

function json(command: Command): Command {
  return command.option('--json', 'print a JSON object a line', false).addHelpOption(helpOption())
}

function helpCommand(): Command {
  return new Command('help').argument('[command]').description('prints the help of a command')
}

function helpOption(): Option {
  return new Option('-h, --help', 'print this')
}

export function identityPathOf(env: NodeJS.ProcessEnv): string {
  return env.IDENTITY_PATH || join(settingsFolder(env), 'identity.json')
}

/** @returns the settings folder by the XDG Base Directory Specification */
export function settingsFolder(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'svc')
}
