// Reads svc.toml, the config file of `svc start` and of the agent: TOML to one command a tunnel, each field checked.

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRecord, SvcError } from '@svc/sdk-core'
import { addressFault } from '@svc/sdk-core/siwe'
import { CARRIERS } from '../../carrier/kinds.ts'
import { parseRoute } from '../commands/paid-options.ts'
import { identityPathOf } from '../options/command-line.ts'
import {
  CERTIFICATES,
  PAYMENT_NETWORKS,
  type SiteCommand,
  type SiteOptions,
  TLS_VERSIONS,
} from '../options/parsed-command.ts'
import { isUrl } from '../options/thumbnail.ts'
import { wordsOf } from '../options/word-list.ts'
import { parseToml, TomlSyntaxError, type TomlTable } from './toml.ts'
import { readUserSettings, type UserSettings, withRemembered } from './user-settings.ts'

interface Kind {
  wanted: string
  accepts(value: unknown): boolean
  /** Says what is wrong with a part of a value that was accepted. */
  fault?(value: unknown): string | undefined
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isPlace = (value: unknown): boolean => isText(value) || Number.isInteger(value)

const TEXT: Kind = { wanted: 'a string', accepts: isText }
const YES_NO: Kind = { wanted: 'true or false', accepts: (value) => typeof value === 'boolean' }
const COUNT: Kind = { wanted: 'a whole number', accepts: (value) => Number.isInteger(value) }
const PLACE: Kind = { wanted: 'a port or a string', accepts: isPlace }
const RELAYS: Kind = {
  wanted: 'a URL or a list of URLs',
  accepts: (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
}
const TEXTS: Kind = {
  wanted: 'a list of strings',
  accepts: (value) => Array.isArray(value) && value.every(isText),
}
const WALLETS: Kind = {
  wanted: 'a list of wallet addresses, each a string',
  accepts: TEXTS.accepts,
  fault: (value) => (value as string[]).map(addressFault).find((fault) => fault !== undefined),
}
const ROUTES: Kind = {
  wanted: 'a table of ports or strings',
  accepts: (value) => isRecord(value) && Object.values(value).every(isPlace),
}
const CARRIER: Kind = {
  wanted: '"native", "native-sessions" or "websocket"',
  accepts: (value) => CARRIERS.some((carrier) => carrier === value),
}

const CERTIFICATE: Kind = {
  wanted: '"own" or "shared"',
  accepts: (value) => CERTIFICATES.some((whose) => whose === value),
}

const TLS_VERSION: Kind = {
  wanted: TLS_VERSIONS.map((version) => JSON.stringify(version)).join(' or '),
  accepts: (value) => TLS_VERSIONS.some((version) => version === value),
}

const PAYMENT_NETWORK: Kind = {
  wanted: PAYMENT_NETWORKS.map((network) => JSON.stringify(network)).join(' or '),
  accepts: (value) => PAYMENT_NETWORKS.some((network) => network === value),
}

/** The fields that stand in the file as a whole or in a tunnel. */
const SHARED: Readonly<Record<string, Kind>> = {
  relay: RELAYS,
  discover: COUNT,
  via: RELAYS,
  ca: TEXT,
  proxy: TEXT,
  identity_path: TEXT,
  carrier: CARRIER,
  certificate: CERTIFICATE,
  tls_min_version: TLS_VERSION,
  hsts: YES_NO,
  allow_canonical: YES_NO,
  ban_mitm: YES_NO,
  overlay: YES_NO,
  listed: YES_NO,
  owner: TEXT,
  thumbnail: TEXT,
  tags: TEXTS,
  x402_pay_to: TEXT,
  x402_network: PAYMENT_NETWORK,
  x402_facilitator: TEXT,
  x402_endpoints: TEXTS,
}
/** The fields that stand in a tunnel alone. */
const OWN: Readonly<Record<string, Kind>> = {
  name: TEXT,
  paused: YES_NO,
  description: TEXT,
  http: PLACE,
  tls: PLACE,
  tcp: PLACE,
  udp: PLACE,
  target_ca: TEXT,
  target_server_name: TEXT,
  host: TEXT,
  routes: ROUTES,
  allow_wallets: WALLETS,
  wallet_rpc: TEXT,
  allow_fields: TEXTS,
  folder: TEXT,
  listing: YES_NO,
  hidden: YES_NO,
  cache: YES_NO,
  cache_ttl: COUNT,
}

/** The fields of `[agent]`. */
const AGENT: Readonly<Record<string, Kind>> = { control_addr: TEXT, allowed_wallets: WALLETS }

/** The fields, as checked with `SHARED` and `OWN`. */
interface Fields {
  relay?: string | string[] | undefined
  discover?: number
  via?: string | string[]
  ca?: string
  proxy?: string
  identity_path?: string
  carrier?: SiteOptions['carrier']
  certificate?: 'own' | 'shared'
  tls_min_version?: SiteOptions['tlsMinVersion']
  hsts?: boolean
  allow_canonical?: boolean
  ban_mitm?: boolean
  overlay?: boolean
  listed?: boolean
  owner?: string
  thumbnail?: string
  tags?: string[]
  x402_pay_to?: string
  x402_network?: SiteOptions['x402Network']
  x402_facilitator?: string
  x402_endpoints?: string[]
  name?: string
  paused?: boolean
  description?: string
  http?: string | number
  tls?: string | number
  tcp?: string | number
  udp?: string | number
  target_ca?: string
  target_server_name?: string
  host?: string
  routes?: Record<string, string | number>
  allow_wallets?: string[]
  wallet_rpc?: string
  allow_fields?: string[]
  folder?: string
  listing?: boolean
  hidden?: boolean
  cache?: boolean
  cache_ttl?: number
}

/** A Config is what svc.toml says. */
export interface Config {
  agent: AgentSettings
  tunnels: ConfiguredTunnel[]
}

/** The settings of `[agent]`, which `svc start` has no use for. */
interface AgentSettings {
  /** The address of the control API, such as `127.0.0.1:4018`, as it stands in the file. */
  controlAddr?: string | undefined
  /** The wallets that may sign in, in lower case. Empty: any wallet may. */
  allowedWallets: readonly string[]
}

export interface ConfiguredTunnel {
  command: SiteCommand
  /** The tunnel is not to run. */
  isPaused: boolean
}

/** The surroundings of a config file, for what it leaves open. */
export interface ConfigContext {
  env: NodeJS.ProcessEnv
  /** What `svc config set` remembers: it counts after the file and SVC_URL. */
  remembered: UserSettings
  /** @returns the identity's file of a tunnel for which svc.toml names none */
  identityPath(name: string | undefined): string
}

/**
 * Reads the tunnels that `svc start` runs: those that are not paused.
 * @throws SvcError `invalid_option` that says where it is wrong, by line or by field
 */
export async function readConfig(path: string, env: NodeJS.ProcessEnv): Promise<SiteCommand[]> {
  const identityPath = identityPathOf(env)
  const context = { env, remembered: await readUserSettings(env), identityPath: () => identityPath }
  const { tunnels } = parseConfig(path, await readConfigText(path), context)
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
    // with its byte order mark, if it has one: the agent writes the file again as it is
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new SvcError('invalid_option', `${path} is not UTF-8: save it in that encoding`)
  }
}

/** @throws SvcError `invalid_option` that says where it is wrong, by line or by field */
export function parseConfig(path: string, text: string, context: ConfigContext): Config {
  const { tunnel: tunnels = [], agent = {}, ...shared } = parseText(path, text)
  check(path, shared, SHARED)
  if (!Array.isArray(tunnels)) throw wrong(path, 'tunnel is not a list of tables: write [[tunnel]]')
  if (!isRecord(agent)) throw wrong(path, 'agent is not a table')
  check(`${path}: agent`, agent, AGENT)
  const names = new Set<unknown>()
  return {
    agent: agentSettings(agent),
    tunnels: tunnels.map((tunnel: unknown, at) => {
      const where = `${path}: tunnel ${at + 1}`
      if (!isRecord(tunnel)) throw wrong(where, 'is not a table')
      check(where, tunnel, { ...SHARED, ...OWN })
      const fields: Fields = { ...shared, ...tunnel }
      if (tunnels.length > 1 && fields.name === undefined) throw wrong(where, 'name is missing')
      // names of hosts, whose letters have no case
      const name = fields.name?.toLowerCase()
      if (names.has(name)) throw wrong(where, `name "${fields.name}" is there twice`)
      names.add(name)
      fields.relay ??= context.env.SVC_URL || context.remembered.relay
      if (!fields.relay) throw wrong(where, 'relay is missing, and neither SVC_URL nor svc config has one')
      const own = commandOf(where, fields, { ...context, base: dirname(resolve(path)) })
      const command = { ...own, options: withRemembered(own.options, context.remembered) } as SiteCommand
      return { command, isPaused: fields.paused ?? false }
    }),
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

function check(where: string, fields: Record<string, unknown>, kinds: Readonly<Record<string, Kind>>): void {
  for (const [field, value] of Object.entries(fields)) {
    if (field === 'hide') throw wrong(where, 'hide is gone: a site is on no list unless it has listed = true')
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined
    if (!kind) throw wrong(where, `${field} is not known; known are ${Object.keys(kinds).join(', ')}`)
    if (!kind.accepts(value)) throw wrong(where, `${field} is not ${kind.wanted}`)
    const fault = kind.fault?.(value)
    if (fault !== undefined) throw wrong(where, `${field}: ${fault}`)
  }
}

interface Surroundings extends ConfigContext {
  /** Relative paths are relative to this folder. */
  base: string
}

function commandOf(where: string, fields: Fields, { base, identityPath }: Surroundings): SiteCommand {
  const path = (value: string): string => resolve(base, value)
  const { relay = [], http, folder, tls, tcp, udp, routes = {} } = fields
  const options: SiteOptions = {
    json: false,
    relay: [relay].flat().flatMap(wordsOf),
    discover: fields.discover ?? 0,
    ...(fields.via !== undefined && { via: [fields.via].flat().flatMap(wordsOf) }),
    identityPath: fields.identity_path === undefined ? identityPath(fields.name) : path(fields.identity_path),
    carrier: fields.carrier ?? 'native',
    allowCanonical: fields.allow_canonical ?? false,
    banMitm: fields.ban_mitm ?? false,
    overlay: fields.overlay ?? false,
    listed: fields.listed ?? false,
    allowField: fields.allow_fields ?? [],
    tag: fields.tags ?? [],
    route: Object.entries(routes).map(([place, to]) => `${place}=${targetOf(to, path)}`),
    ...(fields.certificate !== undefined && { certificate: fields.certificate }),
    ...(fields.hsts !== undefined && { hsts: fields.hsts }),
    ...(fields.name !== undefined && { name: fields.name }),
    ...(fields.ca !== undefined && { ca: path(fields.ca) }),
    ...(fields.proxy !== undefined && { proxy: fields.proxy }),
    ...(fields.description !== undefined && { description: fields.description }),
    ...(fields.owner !== undefined && { owner: fields.owner }),
    ...(fields.thumbnail !== undefined && {
      thumbnail: isUrl(fields.thumbnail) ? fields.thumbnail : path(fields.thumbnail),
    }),
    ...(fields.allow_wallets !== undefined && { allowWallet: fields.allow_wallets }),
    ...(fields.wallet_rpc !== undefined && { walletRpc: fields.wallet_rpc }),
    ...(hasPrice(routes) && paymentOf(fields)),
    ...(fields.tls_min_version !== undefined && { tlsMinVersion: fields.tls_min_version }),
    ...(fields.target_server_name !== undefined && { targetServerName: fields.target_server_name }),
    ...(fields.host !== undefined && { hostHeader: fields.host }),
    ...(fields.target_ca !== undefined && { targetCa: path(fields.target_ca) }),
  }
  if (folder === undefined) {
    if (fields.cache) throw wrong(where, 'cache needs folder: the relay stores files only')
    const streams = {
      ...(tls !== undefined && { tls: String(tls) }),
      ...(tcp !== undefined && { tcp: String(tcp) }),
      ...(udp !== undefined && { udp: String(udp) }),
    }
    const target = http === undefined ? undefined : String(http)
    return { command: 'expose', target, options: { ...options, ...streams } }
  }
  if ((http ?? tls ?? tcp ?? udp) !== undefined) throw wrong(where, 'folder excludes http, tls, tcp and udp')
  const { listing = false, hidden = false, cache = false, cache_ttl: cacheTtl } = fields
  if (!cache && cacheTtl !== undefined) throw wrong(where, 'cache_ttl is for cache = true')
  if (cache && options.banMitm)
    throw wrong(
      where,
      'cache excludes ban_mitm: with it the relay is trusted to end TLS at the canonical URL',
    )
  const shown = { listing, hidden, cache, ...(cacheTtl !== undefined && { cacheTtl }) }
  return { command: 'serve', folder: path(folder), options: { ...options, ...shown } }
}

/** The fields may stand in the file for all tunnels, and concern those that have a price. */
function paymentOf(fields: Fields): Partial<SiteOptions> {
  const { x402_pay_to: payTo, x402_network: network, x402_facilitator: facilitator, x402_endpoints } = fields
  return {
    ...(payTo !== undefined && { x402PayTo: payTo }),
    ...(network !== undefined && { x402Network: network }),
    ...(facilitator !== undefined && { x402Facilitator: facilitator }),
    ...(x402_endpoints !== undefined && { x402Endpoints: x402_endpoints }),
  }
}

function hasPrice(routes: Readonly<Record<string, string | number>>): boolean {
  return Object.entries(routes).some(([place, to]) => parseRoute(`${place}=${to}`).prices.length > 0)
}

/** A folder stays the one that the file means. */
function targetOf(target: string | number, path: (value: string) => string): string {
  const text = String(target)
  return text.startsWith('.') ? path(text) : text
}

function wrong(where: string, what: string): SvcError {
  return new SvcError('invalid_option', `${where}: ${what}`)
}
