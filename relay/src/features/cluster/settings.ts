// The settings of a relay on several machines.

import { isIPv4 } from 'node:net'
import { hostPort } from '@svc/node-kit/host-port'
import type { AllSettings, FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag, hostName, portNumber } from '../../core/config/setting-values.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'
import type { SettingsReader } from '../../core/config/settings-reader.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** The cluster that this machine is part of; undefined when the relay is one machine. */
    cluster: ClusterSettings | undefined
  }
}

/** 192 random bits in base64: the secret is the key of the machines' certificates. */
export const CLUSTER_SECRET_MIN_CHARS = 32
/** Nodes of Sentinel or Cluster that one URL may name. */
const REDIS_NODES_MAX = 16
const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const REDIS_URL = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?$/

export interface HostAndPort {
  host: string
  port: number
}

/** Redis or Valkey: one server, the nodes of a Cluster, or the Sentinels of a master. */
export interface RedisAddress {
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
  redis: RedisAddress
  /** Where the other machines reach this one; it is also the machine's name. */
  address: HostAndPort
  /** Port of the listener for the other machines. */
  listenPort: number
  /** Secret that all machines share. */
  secret: string
}

const ENABLED: Condition = {
  isMet: ({ cluster }) => cluster !== undefined,
  unmet: 'CLUSTER_URL is not set',
}

const TABLE = {
  CLUSTER_URL: {
    meaning:
      'Redis or Valkey that several machines of one relay share: redis://, rediss://, redis+sentinel://HOSTS/MASTER or redis+cluster://HOSTS',
    unset: 'the relay is one machine',
    parse: redisAddress,
  },
  CLUSTER_ADDR: {
    meaning: 'HOST:PORT at which the other machines of the relay reach this one',
    unset: 'needed with CLUSTER_URL',
    parse: hostAndPort,
  },
  CLUSTER_LISTEN_PORT: {
    needs: ENABLED,
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
    needs: ENABLED,
    meaning:
      'whether CLUSTER_URL may be without TLS (redis://) to another host: who is on the way reads the password and gives wrong answers',
    default: 'false',
    parse: flag,
  },
} satisfies SettingsTable

export const clusterSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => ({ cluster: possibleCluster(reader) }),
  check,
  listeners: ({ cluster }) => ({ CLUSTER_LISTEN_PORT: cluster?.listenPort }),
}

/**
 * @returns undefined when the relay is one machine
 * @throws SettingsError when a setting is missing or invalid
 */
function possibleCluster(reader: SettingsReader): ClusterSettings | undefined {
  const { read, optional } = reader.of(TABLE)
  const redis = optional('CLUSTER_URL')
  const address = optional('CLUSTER_ADDR')
  const listenPort = optional('CLUSTER_LISTEN_PORT')
  const secret = optional('CLUSTER_SECRET')
  const allowsPlaintext = read('CLUSTER_ALLOW_PLAINTEXT')
  if (redis === undefined) {
    if (address !== undefined) throw new SettingsError('CLUSTER_ADDR', 'needs CLUSTER_URL')
    if (secret !== undefined) throw new SettingsError('CLUSTER_SECRET', 'needs CLUSTER_URL')
    return undefined
  }
  if (address === undefined) throw missing('CLUSTER_ADDR')
  if (secret === undefined) throw missing('CLUSTER_SECRET')
  if (!allowsPlaintext && wayToRedis(redis) === 'plaintext')
    throw new SettingsError(
      'CLUSTER_URL',
      'is without TLS to another host: use rediss://, or set CLUSTER_ALLOW_PLAINTEXT=true where nobody else is on the way',
    )
  return { redis, address, listenPort: listenPort ?? address.port, secret }
}

function missing(name: 'CLUSTER_ADDR' | 'CLUSTER_SECRET'): SettingsError {
  return new SettingsError(name, `is needed with CLUSTER_URL: ${TABLE[name].meaning}`)
}

/** @throws SettingsError for a setting that is not possible with several machines */
function check({ cluster, given }: Settings, { table }: AllSettings): void {
  if (cluster === undefined) return
  for (const [name, { isOfOneMachine, default: byDefault }] of Object.entries(table))
    if (isOfOneMachine && given.has(name) && given.get(name) !== byDefault)
      throw new SettingsError(name, 'is of one machine, and is not possible with CLUSTER_URL')
}

/** What protects the traffic to Redis: TLS, the loopback interface, or nothing. */
export type WayToRedis = 'tls' | 'loopback' | 'plaintext'

export function wayToRedis({ usesTls, nodes }: RedisAddress): WayToRedis {
  if (usesTls) return 'tls'
  return nodes.every(({ host }) => isLoopback(host)) ? 'loopback' : 'plaintext'
}

/** Parses a URL of Redis. It may contain a password, so no error message quotes it. */
function redisAddress(value: string, setting: string): RedisAddress {
  const [, scheme, kind = 'single', user = '', hosts = '', path = ''] = REDIS_URL.exec(value) ?? []
  if (scheme === undefined)
    throw new SettingsError(setting, 'is not a URL such as redis://:PASSWORD@HOST:6379/0')
  const isSentinel = kind === 'sentinel'
  const nodes = hosts.split(',').map((node) => nodeOf(node, isSentinel ? SENTINEL_PORT : REDIS_PORT, setting))
  if (kind === 'single' && nodes.length > 1)
    throw new SettingsError(
      setting,
      'names several hosts, for which redis+sentinel:// or redis+cluster:// is needed',
    )
  if (nodes.length > REDIS_NODES_MAX)
    throw new SettingsError(setting, `names more than ${REDIS_NODES_MAX} hosts`)
  const parts = path.split('/')
  const master = isSentinel ? decoded(parts.shift() ?? '', setting) : undefined
  if (isSentinel && !master)
    throw new SettingsError(setting, 'needs the name of the master: redis+sentinel://HOSTS/MASTER')
  const database = parts[0] || '0'
  if (!/^\d{1,4}$/.test(database) || parts.length > 1)
    throw new SettingsError(setting, 'has a path that is not the number of a database')
  const [username, password] = credentials(user, setting)
  return {
    kind: kind as RedisAddress['kind'],
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
  // Some write only the password.
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

function clusterSecret(value: string, setting: string): string {
  if (value.length < CLUSTER_SECRET_MIN_CHARS)
    throw new SettingsError(setting, `needs ${CLUSTER_SECRET_MIN_CHARS} characters or more`)
  return value
}

/** HOST:PORT, with brackets around an IPv6 address. */
export function authorityOf({ host, port }: HostAndPort): string {
  return hostPort(host, port)
}
