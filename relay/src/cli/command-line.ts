// Parses the arguments of `svc-relay`: a command and its options. Settings are in the environment.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { CA_FORMATS, type CaFormat, PKCS12_PASSWORD } from '../core/certificates/ca-export.ts'
import { duration, positiveInteger } from '../core/config/setting-values.ts'
import { RELEASE_VERSION } from '../core/version.ts'
import { SETTINGS } from '../settings.ts'
import type { ManageRequest } from './manage-command.ts'

const MINUTE_MS = 60_000
/** Ten years, as the relay's API takes. */
const INVITATION_MAX_MS = 3_650 * 86_400_000
/** Ten years: a longer ban has no end. */
const BAN_MAX_MS = INVITATION_MAX_MS

export type Command =
  | { name: 'serve' }
  /** Prints a text, to standard error if `isError`. */
  | { name: 'print'; text: string; isError: boolean }
  /** Prints the development CA's certificate. */
  | { name: 'ca'; format: CaFormat }
  /** Reports what a start would do; with `isRestart`, once the running relay has ended. */
  | { name: 'check'; isJson: boolean; isRestart: boolean }
  /** Asks the relay that runs with these settings whether it is healthy. */
  | { name: 'healthcheck' }
  /** Asks that relay, as an administrator. */
  | { name: 'manage'; request: ManageRequest }

export function readCommandLine(args: string[]): Command {
  const [command, ...rest] = args
  try {
    if (command === 'ca') return readCaCommand(rest)
    if (command === 'check') return readCheckCommand(rest)
    if (command === 'name') return readNameCommand(rest)
    if (command === 'lease') return readLeaseCommand(rest)
    if (command === 'admin') return readAdminCommand(rest)
    if (command === 'token') return readTokenCommand(rest)
    if (command === 'healthcheck') return readOptions(rest, {}, () => ({ name: 'healthcheck' }))
    return readOptions(args, { version: { type: 'boolean', short: 'v' } }, ({ version }) =>
      version ? { name: 'print', text: RELEASE_VERSION, isError: false } : { name: 'serve' },
    )
  } catch (error) {
    const text = `${(error as Error).message}\nsvc-relay --help lists commands and settings.`
    return { name: 'print', text, isError: true }
  }
}

/** @throws TypeError for an argument that is not one of `options` */
function readOptions(
  args: string[],
  options: ParseArgsOptionsConfig,
  commandOf: (values: Record<string, unknown>) => Command,
): Command {
  const { values } = parseArgs({ args, options: { ...options, help: { type: 'boolean', short: 'h' } } })
  return values.help ? { name: 'print', text: helpText(), isError: false } : commandOf(values)
}

function readCaCommand(args: string[]): Command {
  return readOptions(args, { format: { type: 'string', default: 'pem' } }, ({ format }) => {
    const found = CA_FORMATS.find((one) => one === format)
    if (found === undefined) throw new Error(`--format must be one of ${CA_FORMATS.join(', ')}`)
    return { name: 'ca', format: found }
  })
}

function readCheckCommand(args: string[]): Command {
  const options: ParseArgsOptionsConfig = { json: { type: 'boolean' }, restart: { type: 'boolean' } }
  return readOptions(args, options, ({ json, restart }) => ({
    name: 'check',
    isJson: json === true,
    isRestart: restart === true,
  }))
}

function readNameCommand(args: string[]): Command {
  return readAction(
    args,
    {},
    { pin: ['NAME', 'ADDRESS'], unpin: ['NAME'], list: [] },
    (action, [name = '', address = '']) =>
      action === 'list' ? { action: 'list names' } : { action: 'pin', name, address },
  )
}

function readLeaseCommand(args: string[]): Command {
  const options: ParseArgsOptionsConfig = { reason: { type: 'string' }, until: { type: 'string' } }
  const actions = { list: [], approve: ['KEY…'], deny: ['KEY…'], ban: ['KEY…'], unban: ['KEY…'] }
  return readAction(args, options, actions, (action, keys, { reason, until }) => {
    if (action !== 'ban' && (reason ?? until) !== undefined)
      throw new Error('--reason and --until are of a ban')
    if (action === 'list') return { action: 'list leases' }
    const decision = {
      approve: { is_approved: true, is_denied: false },
      deny: { is_denied: true },
      unban: { is_banned: false },
      ban: {
        is_banned: true,
        ...(reason !== undefined && { reason: `${reason}` }),
        ...(until !== undefined && { until: timeOf(`${until}`) }),
      },
    }[action]
    return { action: 'decide', decisions: keys.map((identity_key) => ({ identity_key, ...decision })) }
  })
}

/** The end of a ban: a time, or how long it holds from now. @throws Error */
function timeOf(text: string): string {
  if (!Number.isNaN(Date.parse(text)) && text.includes('-')) return new Date(text).toISOString()
  return new Date(Date.now() + duration(text, '--until', MINUTE_MS, BAN_MAX_MS)).toISOString()
}

function readAdminCommand(args: string[]): Command {
  return readAction(args, {}, { add: ['NAME'], list: [], remove: ['NAME'] }, (action, [name = '']) =>
    action === 'list'
      ? { action: 'list administrators' }
      : { action: action === 'add' ? 'add administrator' : 'remove administrator', name },
  )
}

function readTokenCommand(args: string[]): Command {
  const options: ParseArgsOptionsConfig = {
    names: { type: 'string', default: '1' },
    expires: { type: 'string', default: '7d' },
    note: { type: 'string', default: '' },
  }
  return readAction(args, options, { add: [], list: [], remove: ['ID'] }, (action, [id = ''], given) => {
    if (action === 'list') return { action: 'list invitations' }
    if (action === 'remove') return { action: 'withdraw', id }
    const ms = duration(`${given.expires}`, '--expires', MINUTE_MS, INVITATION_MAX_MS)
    const names = positiveInteger(`${given.names}`, '--names')
    return { action: 'invite', names, ttl: ms / 1000, note: `${given.note}` }
  })
}

/**
 * Reads an action and its arguments.
 * @param actions the names of the arguments of each, all of which it needs; the last may occur more than once if it ends with `…`
 * @throws TypeError or Error for any other argument
 */
function readAction(
  args: string[],
  options: ParseArgsOptionsConfig,
  actions: Readonly<Record<string, readonly string[]>>,
  requestOf: (action: string, given: string[], values: Record<string, unknown>) => ManageRequest,
): Command {
  const { values, positionals } = parseArgs({
    args,
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  if (values.help) return { name: 'print', text: helpText(), isError: false }
  const [action = '', ...given] = positionals
  const wanted = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (wanted === undefined) throw new Error(`one of ${Object.keys(actions).join(', ')} is needed`)
  const isMany = wanted.at(-1)?.endsWith('…') === true
  if (given.length !== wanted.length && !(isMany && given.length > wanted.length))
    throw new Error(`${action} needs ${wanted.length === 0 ? 'no argument' : wanted.join(' and ')}`)
  return { name: 'manage', request: requestOf(action, given, values) }
}

function helpText(): string {
  const width = Math.max(...SETTINGS.map(({ name }) => name.length))
  const settings = SETTINGS.map(
    ({ name, meaning, default: value }) => `  ${name.padEnd(width)}  ${meaning} [${value}]`,
  )
  return [
    'svc-relay runs a relay: it gives sites public hostnames and carries their bytes, which it cannot read.',
    '',
    'Usage: SVC_URL=https://relay.example.com svc-relay [--help | --version]',
    '       svc-relay check [--json] [--restart]',
    '         says for each feature what a start with these settings would do and what it lacks, and starts nothing;',
    '         it ends with 0 when a start would succeed. With --restart the relay that runs may hold its ports',
    '       svc-relay healthcheck',
    '         asks the relay of these settings on this machine; it ends with 0 when that one serves',
    '       svc-relay name pin NAME ADDRESS | unpin NAME | list',
    '         pins a friendly name to the identity with that address, so that nobody else gets it; it asks the relay of',
    '         these settings on this machine, with ADMIN_TOKEN',
    '       svc-relay lease list | approve KEY… | deny KEY… | ban KEY… [--reason TEXT] [--until 7d] | unban KEY…',
    '         lists the leases with their traffic, and decides about identities by their keys, NAME:ADDRESS; it asks that',
    '         relay as well. --until takes a time, too',
    '       svc-relay token add [--names 1] [--expires 7d] [--note TEXT] | remove ID | list',
    '         makes an invitation for a relay with REGISTRATION=token and prints its token once, or withdraws one; it asks',
    '         that relay as well',
    '       svc-relay admin add NAME | remove NAME | list',
    '         gives another administrator a token, prints it once, and takes it back; it asks that relay as well',
    `       IDENTITY_PATH=/var/lib/svc svc-relay ca [--format ${CA_FORMATS.join(' | ')}] > FILE`,
    '         prints the CA certificate of a relay on localhost, which a phone or another machine can trust;',
    `         the password of the p12 file is ${PKCS12_PASSWORD}`,
    '',
    'Settings are environment variables [with their defaults]:',
    '',
    ...settings,
    '',
    'SIGTERM and SIGINT end the relay when its visitors have left, or after 10 s; a second signal ends it at once.',
    'SIGHUP reloads certificates and policy.',
  ].join('\n')
}
