// Machines of one relay in this process, which share a Redis, and the way to each of them.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminLoadResponse } from '@svc/protocol'
import { FaultProxy } from '../../../tools/network/fault-proxy.ts'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { findRedis } from '../../../tools/programs/services.ts'
import { createLog, type Logger } from '../../src/core/log/log.ts'
import { RedisKeys } from '../../src/features/cluster/redis/keys.ts'
import { deriveClusterKey } from '../../src/features/cluster/shared/cluster-key.ts'
import { Seal } from '../../src/features/cluster/shared/seal.ts'
import { freePort, ROOT_HOST, startTestRelay, type TestClient, type TestRelay } from './relay.ts'

export interface ClusterRelay extends TestRelay {
  /** CLUSTER_ADDR. */
  readonly machine: string
  /** The way of the others to this machine, and its way to Redis. */
  readonly link: FaultProxy
  readonly redisWay: FaultProxy
}

export const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
export const ADMIN: Record<string, string> = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const LOOK_MS = 20

export interface ClusterRelays {
  readonly redis: Redis
  readonly secret: string
  /** What the machines seal entries with, and call them by. */
  readonly seal: Seal
  readonly keys: RedisKeys
  readonly relays: ClusterRelay[]
  /** Settings of one more machine. */
  settings(): Promise<Record<string, string>>
  /** Starts one more machine, or one again. */
  add(env?: Record<string, string>, before?: ClusterRelay): Promise<ClusterRelay>
  close(): Promise<void>
}

const noRedis = findRedis() === undefined ? 'there is no redis-server' : undefined

/** @returns the reason for which no redis can be had here */
export function whyNoRedis(): string | undefined {
  return noRedis
}

/** @param env settings of every machine @param log that of all machines */
export async function startClusterRelays(
  count: number,
  env: Record<string, string> | ((index: number) => Promise<Record<string, string>>) = {},
  given?: Redis,
  log?: Logger,
): Promise<ClusterRelays> {
  const redis = given ?? (await startRedis())
  const secret = randomBytes(32).toString('hex')
  const origin = `https://${ROOT_HOST}:${await freePort()}`
  const { host } = new URL(origin)
  const seal = new Seal(deriveClusterKey(secret, host), createLog('silent'))
  const relays: ClusterRelay[] = []
  const settings = async (): Promise<Record<string, string>> => ({
    SVC_URL: origin,
    SNI_PORT: `${await freePort()}`,
    CLUSTER_URL: redis.url,
    CLUSTER_SECRET: secret,
    ADMIN_TOKEN,
    ...(typeof env === 'function' ? await env(relays.length) : env),
  })
  const add: ClusterRelays['add'] = async (more = {}, before = undefined) => {
    const listenPort = await freePort()
    const link: FaultProxy = before?.link ?? (await FaultProxy.start(() => listenPorts.get(link)!))
    listenPorts.set(link, listenPort)
    const redisWay = before?.redisWay ?? (await FaultProxy.start(() => redis.port))
    const way = new URL(redis.url)
    way.port = `${redisWay.port}`
    const machine = `127.0.0.1:${link.port}`
    const own = {
      ...(await settings()),
      ...(before && { SNI_PORT: `${before.port}` }),
      CLUSTER_URL: way.href,
      CLUSTER_ADDR: machine,
      CLUSTER_LISTEN_PORT: `${listenPort}`,
      ...more,
    }
    const relay = await startTestRelay(own, {
      ...(before && { directory: before.directory }),
      ...(log && { log }),
    })
    const added = { ...relay, machine, link, redisWay }
    const index = before === undefined ? relays.length : relays.indexOf(before)
    relays[index] = added
    return added
  }
  const listenPorts = new Map<FaultProxy, number>()
  const close = async (): Promise<void> => {
    await Promise.all(relays.map((relay) => relay.close()))
    await Promise.all(relays.flatMap(({ link, redisWay }) => [link.close(), redisWay.close()]))
    if (given === undefined) await redis.stop()
  }
  try {
    for (let index = 0; index < count; index++) await add()
    await untilLinked(relays)
  } catch (error) {
    await close()
    throw error
  }
  return { redis, secret, seal, keys: new RedisKeys(host, seal), relays, settings, add, close }
}

/** Resolves when each of the machines reaches all others. */
export async function untilLinked(relays: readonly ClusterRelay[]): Promise<void> {
  const online = relays.map(({ machine }) => `${machine} online`)
  for (const relay of relays)
    for (let seen: string[] = []; !online.every((one) => seen.includes(one)); await sleep(LOOK_MS))
      seen = await machinesSeenBy(relay)
}

/** The other machines and itself, each with its state, as a machine sees them. */
export async function machinesSeenBy(relay: TestClient): Promise<string[]> {
  const { data } = (await relay.call('GET', '/api/admin/load', undefined, ADMIN)).json
  const { machines = [] } = data as unknown as AdminLoadResponse
  return machines.map(({ address, state }) => `${address} ${state}`)
}
