// The settings of a relay on several machines.

import { isIPv4, isIPv6 } from 'node:net'
import { hostPort } from '@svc/node-kit/host-port'
import { CLUSTER, PORTS } from './features.ts'
import type { Setting } from './setting.ts'
import { flag, portNumber } from './setting-values.ts'
import { SettingsError } from './settings-error.ts'

/** 192 random bits in base64: the secret is the key of the machines' certificates. */
export const CLUSTER_SECRET_MIN_CHARS = 32
/** Nodes of Sentinel or Cluster that one URL names. */
const ENGINE_NODES_MAX = 16
const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const ENGINE_URL = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?$/

export interface HostAndPort {
  host: string
  port: number
}

/** Redis or Valkey: one server, the nodes of a Cluster, or the Sentinels of a master. */
export interface EngineAddress {
  kind: 'single' | 'sentinel' | 'cluster'
  nodes: readonly HostAndPort[]
  /** Name of the master that the Sentinels watch. */
  master: string | undefined
  usesTls: boolean
  username: string | undefined
  password: string | undefined
  /** Number of the database. */
  database: number
}

export interface ClusterSettings {
  engine: EngineAddress
  /** Where the other machines reach this one; it is also the machine's name. */
  address: HostAndPort
  /** Port of the listener for the other machines. */
  listenPort: number
  /** Secret that all machines have. */
  secret: string
}

interface ClusterTable {
  CLUSTER_URL: Setting<EngineAddress>
  CLUSTER_ADDR: Setting<HostAndPort>
  CLUSTER_LISTEN_PORT: Setting<number>
  CLUSTER_SECRET: Setting<string>
  CLUSTER_ALLOW_PLAINTEXT: Setting<boolean>
  PORT_HOST: Setting<string>
}

/** The rows of these settings, in the order in which `--help` lists them. */
export const CLUSTER_TABLE: ClusterTable = {
  CLUSTER_URL: {
    meaning:
      'Redis or Valkey that several machines of one relay share: redis://, rediss://, redis+sentinel://HOSTS/MASTER or redis+cluster://HOSTS',
    unset: 'the relay is one machine',
    parse: engineAddress,
  },
  CLUSTER_ADDR: {
    meaning: 'HOST:PORT at which the other machines of the relay reach this one',
    unset: 'needed with CLUSTER_URL',
    parse: hostAndPort,
  },
  CLUSTER_LISTEN_PORT: {
    feature: CLUSTER,
    meaning: 'port of the listener for the other machines, when it differs from that of CLUSTER_ADDR',
    unset: 'the port of CLUSTER_ADDR',
    parse: portNumber,
  },
  CLUSTER_SECRET: {
    meaning: `secret that all machines of the relay share: a random value of ${CLUSTER_SECRET_MIN_CHARS} characters or more`,
    unset: 'needed with CLUSTER_URL',
    parse: clusterSecret,
  },
  CLUSTER_ALLOW_PLAINTEXT: {
    feature: CLUSTER,
    meaning:
      'whether CLUSTER_URL may be without TLS (redis://) to another host: who is on the way reads the password and gives wrong answers',
    default: 'false',
    parse: flag,
  },
  PORT_HOST: {
    feature: PORTS,
    meaning:
      'host that addresses of dedicated ports name: of this machine, and not at or below the host of SVC_URL',
    unset: 'an address of this machine',
    parse: hostName,
  },
}

interface GivenSettings {
  engine: EngineAddress | undefined
  address: HostAndPort | undefined
  listenPort: number | undefined
  secret: string | undefined
  allowsPlaintext: boolean
}

/** How what the machines tell the engine is kept from others: by TLS, by staying on this machine, or not at all. */
export type WayToEngine = 'tls' | 'loopback' | 'plaintext'

export function wayToEngine({ usesTls, nodes }: EngineAddress): WayToEngine {
  if (usesTls) return 'tls'
  return nodes.every(({ host }) => isLoopback(host)) ? 'loopback' : 'plaintext'
}

/**
 * @param others settings of features that are of one machine, and are set
 * @returns undefined where the relay is one machine
 * @throws SettingsError when a setting is missing, or another one does not go with several machines
 */
export function possibleCluster(
  { engine, address, listenPort, secret, allowsPlaintext }: GivenSettings,
  others: readonly string[],
): ClusterSettings | undefined {
  if (engine === undefined) {
    if (address !== undefined) throw new SettingsError('CLUSTER_ADDR', 'needs CLUSTER_URL')
    if (secret !== undefined) throw new SettingsError('CLUSTER_SECRET', 'needs CLUSTER_URL')
    return undefined
  }
  if (address === undefined)
    throw new SettingsError(
      'CLUSTER_ADDR',
      `is needed with CLUSTER_URL: ${CLUSTER_TABLE.CLUSTER_ADDR.meaning}`,
    )
  if (secret === undefined)
    throw new SettingsError(
      'CLUSTER_SECRET',
      `is needed with CLUSTER_URL: ${CLUSTER_TABLE.CLUSTER_SECRET.meaning}`,
    )
  if (!allowsPlaintext && wayToEngine(engine) === 'plaintext')
    throw new SettingsError(
      'CLUSTER_URL',
      'is without TLS to another host: use rediss://, or set CLUSTER_ALLOW_PLAINTEXT=true where nobody else is on the way',
    )
  const [other] = others
  if (other !== undefined)
    throw new SettingsError(other, 'is of one machine, and is not possible with CLUSTER_URL')
  return { engine, address, listenPort: listenPort ?? address.port, secret }
}

/** Values hold a password: no message has one. */
function engineAddress(value: string, setting: string): EngineAddress {
  const [, scheme, kind = 'single', user = '', hosts = '', path = ''] = ENGINE_URL.exec(value) ?? []
  if (scheme === undefined)
    throw new SettingsError(setting, 'is not a URL such as redis://:PASSWORD@HOST:6379/0')
  const isSentinel = kind === 'sentinel'
  const nodes = hosts.split(',').map((node) => nodeOf(node, isSentinel ? SENTINEL_PORT : REDIS_PORT, setting))
  if (kind === 'single' && nodes.length > 1)
    throw new SettingsError(
      setting,
      'names several hosts, for which redis+sentinel:// or redis+cluster:// is needed',
    )
  if (nodes.length > ENGINE_NODES_MAX)
    throw new SettingsError(setting, `names more than ${ENGINE_NODES_MAX} hosts`)
  const parts = path.split('/')
  const master = isSentinel ? decoded(parts.shift() ?? '', setting) : undefined
  if (isSentinel && !master)
    throw new SettingsError(setting, 'needs the name of the master: redis+sentinel://HOSTS/MASTER')
  const database = parts[0] || '0'
  if (!/^\d{1,4}$/.test(database) || parts.length > 1)
    throw new SettingsError(setting, 'has a path that is not the number of a database')
  const [username, password] = credentials(user, setting)
  return {
    kind: kind as EngineAddress['kind'],
    nodes,
    master,
    usesTls: scheme === 'rediss',
    username,
    password,
    database: Number(database),
  }
}

function credentials(
  user: string,
  setting: string,
): [username: string | undefined, password: string | undefined] {
  if (user === '') return [undefined, undefined]
  const colon = user.indexOf(':')
  // Some write the password alone.
  if (colon < 0) return [undefined, decoded(user, setting)]
  return [decoded(user.slice(0, colon), setting) || undefined, decoded(user.slice(colon + 1), setting)]
}

function decoded(text: string, setting: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new SettingsError(setting, 'has a malformed percent sign')
  }
}

function nodeOf(text: string, defaultPort: number, setting: string): HostAndPort {
  return hostAndPort(/:\d+$/.test(text) ? text : `${text}:${defaultPort}`, setting)
}

function hostAndPort(value: string, setting: string): HostAndPort {
  const colon = value.lastIndexOf(':')
  if (colon < 1) throw new SettingsError(setting, 'needs a host and a port: HOST:PORT')
  const port = portNumber(value.slice(colon + 1), setting)
  return { host: hostName(value.slice(0, colon), setting), port }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

function hostName(value: string, setting: string): string {
  const inBrackets = /^\[(.*)\]$/.exec(value)?.[1]
  if (inBrackets !== undefined && isIPv6(inBrackets)) return inBrackets
  if (isIPv6(value)) return value
  if (!/^[a-z\d](?:[a-z\d._-]{0,251}[a-z\d])?$/i.test(value))
    throw new SettingsError(setting, 'is not the name or address of a host')
  return value.toLowerCase()
}

function clusterSecret(value: string, setting: string): string {
  if (value.length < CLUSTER_SECRET_MIN_CHARS)
    throw new SettingsError(setting, `needs ${CLUSTER_SECRET_MIN_CHARS} characters or more`)
  return value
}

/** HOST:PORT, with brackets around an IPv6 address. */
export function authorityOf({ host, port }: HostAndPort): string {
  return hostPort(host, port)
}

/** Whether a name is the root host or below it, where visitors of a port would share cookies with the relay or its sites. */
export function sharesCookies(host: string, rootHost: string): boolean {
  return host === rootHost || host.endsWith(`.${rootHost}`)
}

/** What a log and `svc-relay check` say of such a name. */
export function sharedCookies(host: string): string {
  return `dedicated ports are named ${host}, where browsers share cookies with the relay or its sites: PORT_HOST can name an address, or a host of another domain`
}
