// The arguments of `svc` and the environment to a command that is checked. Only importer of commander.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import type { CarrierKind } from '../platform.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'

interface SharedOptions {
  json: boolean
  identityPath: string
}

export interface SiteOptions extends SharedOptions {
  relay: string[]
  name?: string
  ca?: string
  carrier: CarrierKind
  allowCanonical: boolean
  hide: boolean
  banMitm: boolean
}

export type Chosen =
  | { command: 'identity'; options: SharedOptions }
  | {
      command: 'expose'
      target: string | undefined
      options: SiteOptions & { tcp?: string; tls?: string; targetCa?: string }
    }
  | { command: 'serve'; folder: string; options: SiteOptions & { listing: boolean; hidden: boolean } }

/** What was printed instead: help, the version, or what is wrong. */
export interface Printed {
  exitCode: ExitCode
}

const EXIT_CODES = `
Exit codes: 0 ended when asked to, 1 unforeseen, 2 wrong usage, 3 relay unreachable or not trusted,
4 refused by the relay, 5 incompatible relay, 6 broken identity, 7 ended by the relay while it was online.`

export function readCommandLine(args: readonly string[], env: NodeJS.ProcessEnv): Chosen | Printed {
  let chosen: Chosen | undefined
  const program = new Command('svc')
    .description('Publishes what runs on this machine at an HTTPS URL; TLS ends here, not at the relay.')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')) })
    .addHelpText('after', EXIT_CODES)

  site(program.command('expose'), env)
    .description('a local HTTP server, TLS server or TCP service')
    .argument('[target]', 'the HTTP server: a port, host:port, or a URL')
    .option(
      '--tls <target>',
      'a TLS server, which gets the visitors’ TLS as it is, in place of an HTTP server',
    )
    .option('--tcp <target>', 'a TCP service, at a port of its own on the relay')
    .option('--target-ca <file>', 'PEM of the authority behind the certificate of an https: target')
    .action((target, options) => {
      chosen = { command: 'expose', target, options }
    })
  site(program.command('serve'), env)
    .description('the files of a folder')
    .argument('<folder>')
    .option('--listing', 'list folders that have no index.html', false)
    .option('--hidden', 'serve names that begin with a dot, too', false)
    .action((folder, options) => {
      chosen = { command: 'serve', folder, options }
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

function site(command: Command, env: NodeJS.ProcessEnv): Command {
  const known = env.SVC_URL ? [env.SVC_URL] : []
  const relays = new Option('-r, --relay <url>', 'the relay; may be given several times [SVC_URL]')
    .argParser((url, before: string[]) => (before === known ? [url] : [...before, url]))
    .default(known, known[0])
  return shared(command, env)
    .addOption(relays)
    .option('-n, --name <name>', 'the site’s name [made of the identity’s address]')
    .option('--ca <file>', 'PEM of the authority to trust for the relay instead of the system’s')
    .addOption(
      new Option('--carrier <kind>', 'how visitors come').choices(['native', 'websocket']).default('native'),
    )
    .option('--allow-canonical', 'the canonical URL alone will do when the name is taken', false)
    .option(
      '--ban-mitm',
      'leave a relay that is found to answer visitors itself, instead of only saying so',
      false,
    )
    .option('--hide', 'keep the site off the relay’s public list', false)
}

function shared(command: Command, env: NodeJS.ProcessEnv): Command {
  return command
    .option('--json', 'a JSON object a line', false)
    .option(
      '--identity-path <file>',
      'the identity’s file [IDENTITY_PATH]',
      env.IDENTITY_PATH || ownPath(env),
    )
}

/** XDG Base Directory Specification. */
function ownPath(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'svc', 'identity.json')
}
