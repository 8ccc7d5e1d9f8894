// Reads the config file of `svc start`: TOML to one command a tunnel, each field checked. Only importer of smol-toml.

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRecord, SvcError } from '@svc/sdk-core'
import { parse, TomlError } from 'smol-toml'
import { CARRIERS } from '../../carrier/kinds.ts'
import { CERTIFICATES, identityPathOf, type SiteCommand, type SiteOptions } from '../options/command-line.ts'
import { isUrl } from '../options/thumbnail.ts'

interface Kind {
  wanted: string
  accepts(value: unknown): boolean
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

/** The fields that stand in the file as a whole or in a tunnel. */
const SHARED: Readonly<Record<string, Kind>> = {
  relay: RELAYS,
  discover: COUNT,
  via: RELAYS,
  ca: TEXT,
  identity_path: TEXT,
  carrier: CARRIER,
  certificate: CERTIFICATE,
  allow_canonical: YES_NO,
  ban_mitm: YES_NO,
  overlay: YES_NO,
  hide: YES_NO,
  owner: TEXT,
  thumbnail: TEXT,
  tags: TEXTS,
}
/** The fields that stand in a tunnel alone. */
const OWN: Readonly<Record<string, Kind>> = {
  name: TEXT,
  description: TEXT,
  http: PLACE,
  tls: PLACE,
  tcp: PLACE,
  udp: PLACE,
  target_ca: TEXT,
  routes: ROUTES,
  folder: TEXT,
  listing: YES_NO,
  hidden: YES_NO,
  cache: YES_NO,
  cache_ttl: COUNT,
}

/** The fields, as checked with `SHARED` and `OWN`. */
interface Fields {
  relay?: string | string[] | undefined
  discover?: number
  via?: string | string[]
  ca?: string
  identity_path?: string
  carrier?: SiteOptions['carrier']
  certificate?: 'own' | 'shared'
  allow_canonical?: boolean
  ban_mitm?: boolean
  overlay?: boolean
  hide?: boolean
  owner?: string
  thumbnail?: string
  tags?: string[]
  name?: string
  description?: string
  http?: string | number
  tls?: string | number
  tcp?: string | number
  udp?: string | number
  target_ca?: string
  routes?: Record<string, string | number>
  folder?: string
  listing?: boolean
  hidden?: boolean
  cache?: boolean
  cache_ttl?: number
}

/** @throws SvcError `invalid_option` that says where it is wrong, by line or by field */
export async function readConfig(path: string, env: NodeJS.ProcessEnv): Promise<SiteCommand[]> {
  const { tunnel: tunnels, ...shared } = parseToml(path, await read(path))
  check(path, shared, SHARED)
  if (!Array.isArray(tunnels) || tunnels.length === 0) throw wrong(path, 'there is no [[tunnel]]')
  const names = new Set<unknown>()
  return tunnels.map((tunnel: unknown, at) => {
    const where = `${path}: tunnel ${at + 1}`
    if (!isRecord(tunnel)) throw wrong(where, 'is not a table')
    check(where, tunnel, { ...SHARED, ...OWN })
    const fields: Fields = { ...shared, ...tunnel }
    if (tunnels.length > 1 && fields.name === undefined) throw wrong(where, 'name is missing')
    if (names.has(fields.name)) throw wrong(where, `name "${fields.name}" is there twice`)
    names.add(fields.name)
    fields.relay ??= env.SVC_URL
    if (!fields.relay) throw wrong(where, 'relay is missing, and SVC_URL is not set')
    return commandOf(where, fields, { base: dirname(resolve(path)), env })
  })
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new SvcError('invalid_option', `${path} cannot be read: svc config init writes one`, { cause })
  }
}

function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw' })
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    // behind the first line it quotes the file
    const [message = ''] = cause.message.replace(/^Invalid TOML document: /, '').split('\n', 1)
    throw wrong(`${path}:${cause.line}:${cause.column}`, message)
  }
}

function check(where: string, fields: Record<string, unknown>, kinds: Readonly<Record<string, Kind>>): void {
  for (const [field, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined
    if (!kind) throw wrong(where, `${field} is not known; known are ${Object.keys(kinds).join(', ')}`)
    if (!kind.accepts(value)) throw wrong(where, `${field} is not ${kind.wanted}`)
  }
}

interface Surroundings {
  /** Relative paths are relative to this folder. */
  base: string
  env: NodeJS.ProcessEnv
}

function commandOf(where: string, fields: Fields, { base, env }: Surroundings): SiteCommand {
  const path = (value: string): string => resolve(base, value)
  const { relay = [], http, folder, tls, tcp, udp, routes = {} } = fields
  const options: SiteOptions = {
    json: false,
    relay: [relay].flat(),
    discover: fields.discover ?? 0,
    ...(fields.via !== undefined && { via: [fields.via].flat() }),
    identityPath: fields.identity_path === undefined ? identityPathOf(env) : path(fields.identity_path),
    carrier: fields.carrier ?? 'native',
    allowCanonical: fields.allow_canonical ?? false,
    banMitm: fields.ban_mitm ?? false,
    overlay: fields.overlay ?? false,
    hide: fields.hide ?? false,
    tag: fields.tags ?? [],
    route: Object.entries(routes).map(([place, to]) => `${place}=${targetOf(to, path)}`),
    ...(fields.certificate !== undefined && { certificate: fields.certificate }),
    ...(fields.name !== undefined && { name: fields.name }),
    ...(fields.ca !== undefined && { ca: path(fields.ca) }),
    ...(fields.description !== undefined && { description: fields.description }),
    ...(fields.owner !== undefined && { owner: fields.owner }),
    ...(fields.thumbnail !== undefined && {
      thumbnail: isUrl(fields.thumbnail) ? fields.thumbnail : path(fields.thumbnail),
    }),
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

/** A folder stays the one that the file means. */
function targetOf(target: string | number, path: (value: string) => string): string {
  const text = String(target)
  return text.startsWith('.') ? path(text) : text
}

function wrong(where: string, what: string): SvcError {
  return new SvcError('invalid_option', `${where}: ${what}`)
}
