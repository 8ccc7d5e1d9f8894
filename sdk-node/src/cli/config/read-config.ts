// Reads svc.toml, the config file of `svc start` and the agent: it checks each field and makes a command for each tunnel.

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRecord, SvcError, type TrafficRules } from '@svc/sdk-core'
import { addressFault } from '@svc/sdk-core/siwe'
import { parseRoute } from '../commands/paid-options.ts'
import { ACCESS_OPTIONS } from '../options/access-options.ts'
import { identityPathOf } from '../options/command-line.ts'
import { type Kind, PLACE, TEXT, WALLETS, YES_NO } from '../options/option-kinds.ts'
import type { SiteCommand, SiteOptions } from '../options/parsed-command.ts'
import { FOLDER_OPTIONS, optionsIn, SERVICE_OPTIONS, TUNNEL_OPTIONS } from '../options/tunnel-options.ts'
import { WEBHOOK_OPTIONS } from '../options/webhook-options.ts'
import { parseToml, TomlSyntaxError, type TomlTable } from './toml.ts'
import { readUserSettings, type UserSettings, withRemembered } from './user-settings.ts'

type Kinds = Readonly<Record<string, Kind<unknown>>>

/** The fields allowed at the head of the file and in a tunnel. */
const SHARED: Kinds = kindsOf(Object.values(TUNNEL_OPTIONS).filter(({ isShared }) => isShared))
/** The fields allowed only in a tunnel. */
const OWN: Kinds = {
  ...kindsOf(Object.values(TUNNEL_OPTIONS)),
  paused: YES_NO,
  ...kindsOf(Object.values(WEBHOOK_OPTIONS)),
  access: { wanted: 'a table: write [tunnel.access]', accepts: isRecord },
  http: PLACE,
  ...kindsOf(Object.values(SERVICE_OPTIONS)),
  folder: TEXT,
  ...kindsOf(Object.values(FOLDER_OPTIONS)),
}
/** The fields of `[tunnel.access]`. */
const ACCESS: Kinds = kindsOf(Object.values(ACCESS_OPTIONS))
/** The fields of `[agent]`. */
const AGENT: Kinds = { control_addr: TEXT, allowed_wallets: WALLETS }

/** The fields of a tunnel, checked with `OWN`: these and those of its options. */
interface Fields extends Record<string, unknown> {
  name?: string
  relay?: string | string[] | undefined
  paused?: boolean
  http?: string | number
  folder?: string
  access?: Record<string, unknown>
}

function kindsOf(options: readonly { field?: string; kind: Kind<unknown> }[]): Kinds {
  return Object.fromEntries(
    options.flatMap(({ field, kind }) => (field === undefined ? [] : [[field, kind]])),
  )
}

/** A Config is the parsed svc.toml. */
export interface Config {
  agent: AgentSettings
  tunnels: ConfiguredTunnel[]
}

/** The settings of `[agent]`, which `svc start` ignores. */
interface AgentSettings {
  /** The address of the control API, such as `127.0.0.1:4018`, as written in the file. */
  controlAddr?: string | undefined
  /** The wallets that may sign in, in lower case. Empty: any wallet may. */
  allowedWallets: readonly string[]
}

export interface ConfiguredTunnel {
  command: SiteCommand
  /** True when the tunnel must not run. */
  isPaused: boolean
}

/** The defaults for what a config file leaves out. */
export interface ConfigContext {
  env: NodeJS.ProcessEnv
  /** The settings of `svc config set`, which come after the file and SVC_URL. */
  remembered: UserSettings
  /** @returns the path of the identity of a tunnel for which svc.toml names none */
  identityPath(name: string | undefined): string
}

/**
 * Reads the tunnels that `svc start` runs: those that are not paused.
 * @throws SvcError `invalid_option` that says where it is wrong, by line or by field
 */
export async function readConfig(path: string, env: NodeJS.ProcessEnv): Promise<SiteCommand[]> {
  const identityPath = identityPathOf(env)
  const context = { env, remembered: await readUserSettings(env), identityPath: () => identityPath }
  const { tunnels } = await parseConfig(path, await readConfigText(path), context)
  const commands = tunnels.flatMap(({ command, isPaused }) => (isPaused ? [] : [command]))
  if (tunnels.length === 0) throw wrong(path, 'there is no [[tunnel]]')
  if (commands.length === 0) throw wrong(path, 'every [[tunnel]] is paused')
  return commands
}

/**
 * Resolves with the text of a config file.
 * @throws SvcError `invalid_option`
 */
export async function readConfigText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((cause) => {
    throw new SvcError('invalid_option', `${path} cannot be read: svc config init writes one`, { cause })
  })
  try {
    // Keeps a byte order mark: the agent writes the file back unchanged.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new SvcError('invalid_option', `${path} is not UTF-8: save it in that encoding`)
  }
}

/** @throws SvcError `invalid_option` that says where it is wrong, by line or by field */
export async function parseConfig(path: string, text: string, context: ConfigContext): Promise<Config> {
  const { tunnel: tunnels = [], agent = {}, ...shared } = parseText(path, text)
  check(path, shared, SHARED)
  if (!Array.isArray(tunnels)) throw wrong(path, 'tunnel is not a list of tables: write [[tunnel]]')
  if (!isRecord(agent)) throw wrong(path, 'agent is not a table')
  check(`${path}: agent`, agent, AGENT)
  const names = new Set<unknown>()
  const parsed = {
    agent: agentSettings(agent),
    tunnels: tunnels.map((tunnel: unknown, at) => {
      const where = `${path}: tunnel ${at + 1}`
      if (!isRecord(tunnel)) throw wrong(where, 'is not a table')
      check(where, tunnel, OWN)
      const fields: Fields = { ...shared, ...tunnel }
      check(`${where}: access`, fields.access ?? {}, ACCESS)
      if (tunnels.length > 1 && fields.name === undefined) throw wrong(where, 'name is missing')
      // Names are hostnames, which are case-insensitive.
      const name = fields.name?.toLowerCase()
      if (names.has(name)) throw wrong(where, `name "${fields.name}" is there twice`)
      names.add(name)
      if (context.env.SVC_INVITATION) fields.invitation ??= context.env.SVC_INVITATION
      fields.relay ??= context.env.SVC_URL || context.remembered.relay
      if (!fields.relay) throw wrong(where, 'relay is missing, and neither SVC_URL nor svc config has one')
      const own = commandOf(where, fields, { ...context, base: dirname(resolve(path)) })
      const command = { ...own, options: withRemembered(own.options, context.remembered) } as SiteCommand
      return { command, isPaused: fields.paused ?? false }
    }),
  }
  for (const [at, { command }] of parsed.tunnels.entries()) {
    const { rules } = command.options
    if (rules) command.options.rules = await checkedRules(`${path}: tunnel ${at + 1}`, rules)
  }
  return parsed
}

/** Checks traffic rules with their own code, which is loaded only for them, and reads the files of mocks. */
async function checkedRules(where: string, given: TrafficRules): Promise<TrafficRules> {
  const { parseRules } = await import('@svc/sdk-core/rules')
  try {
    const rules = given.mocks ? await (await import('../options/mock-files.ts')).withMockFiles(given) : given
    parseRules(rules, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    return rules
  } catch (cause) {
    throw wrong(where, (cause as Error).message)
  }
}

function agentSettings(fields: { control_addr?: string; allowed_wallets?: string[] }): AgentSettings {
  const { control_addr: controlAddr, allowed_wallets: wallets = [] } = fields
  return { controlAddr, allowedWallets: wallets.map((wallet) => wallet.toLowerCase()) }
}

function parseText(path: string, text: string): TomlTable {
  try {
    return parseToml(text)
  } catch (cause) {
    if (!(cause instanceof TomlSyntaxError)) throw cause
    const { line, column, message } = cause
    throw wrong(line === undefined ? path : `${path}:${line}:${column}`, message)
  }
}

function check(where: string, fields: Record<string, unknown>, kinds: Kinds): void {
  for (const [field, value] of Object.entries(fields)) {
    if (field === 'hide') throw wrong(where, 'hide is gone: a site is on no list unless it has listed = true')
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined
    if (!kind) throw wrong(where, `${field} is not known; known are ${Object.keys(kinds).join(', ')}`)
    if (!kind.accepts(value)) throw wrong(where, `${field} is not ${kind.wanted}`)
    const fault = kind === WALLETS && (value as string[]).map(addressFault).find((text) => text !== undefined)
    if (fault) throw wrong(where, `${field}: ${fault}`)
  }
}

interface Surroundings extends ConfigContext {
  /** Relative paths are relative to this folder. */
  base: string
}

function commandOf(where: string, fields: Fields, { base, identityPath }: Surroundings): SiteCommand {
  const path = (value: string): string => resolve(base, value)
  const { http, folder, tls, tcp, udp, name, identity_path = identityPath(name) } = fields
  const given = {
    ...optionsIn(TUNNEL_OPTIONS, { ...fields, identity_path }, path),
    ...optionsIn(ACCESS_OPTIONS, fields.access ?? {}, path),
    ...optionsIn(WEBHOOK_OPTIONS, fields, path),
  }
  const options = { json: false, ...(given.route.some(hasPrice) ? given : withoutPayment(given)) }
  if (folder === undefined) {
    if (fields.cache) throw wrong(where, 'cache needs folder: the relay stores files only')
    const services = optionsIn(SERVICE_OPTIONS, fields, path)
    const target = http === undefined ? undefined : String(http)
    return { command: 'expose', target, options: { ...options, ...services } }
  }
  if ((http ?? tls ?? tcp ?? udp ?? fields.proxy_protocol) !== undefined)
    throw wrong(where, 'folder excludes http, tls, tcp, udp and proxy_protocol')
  const shown = optionsIn(FOLDER_OPTIONS, fields, path)
  if (!shown.cache && shown.cacheTtl !== undefined) throw wrong(where, 'cache_ttl is for cache = true')
  if (shown.cache && options.banMitm)
    throw wrong(
      where,
      'cache excludes ban_mitm: with it the relay is trusted to end TLS at the canonical URL',
    )
  return { command: 'serve', folder: path(folder), options: { ...options, ...shown } }
}

function hasPrice(route: string): boolean {
  return parseRoute(route).prices.length > 0
}

/** Removes the payment fields, which may be at the head of the file, from tunnels without a price. */
function withoutPayment<T extends Partial<SiteOptions>>({
  x402PayTo: _payTo,
  x402Network: _network,
  x402Facilitator: _facilitator,
  x402Endpoints: _endpoints,
  ...others
}: T): Omit<T, 'x402PayTo' | 'x402Network' | 'x402Facilitator' | 'x402Endpoints'> {
  return others
}

function wrong(where: string, what: string): SvcError {
  return new SvcError('invalid_option', `${where}: ${what}`)
}
