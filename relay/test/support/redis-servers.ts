// Engines of every kind for tests: one server, one behind a Sentinel, and a Cluster of three.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import type { CertificateAuthority } from '../../src/core/certificates/development-names.ts'
import type { RedisAddress } from '../../src/features/cluster/settings.ts'
import { readSettings } from '../../src/settings.ts'
import { freePort } from './relay.ts'

const SLOTS = 16_384
const LOOK_MS = 20

export function redisAddress(url: string): RedisAddress {
  const { cluster } = readSettings({
    SVC_URL: 'https://relay.example',
    CLUSTER_URL: url,
    CLUSTER_ADDR: '192.0.2.1:7443',
    CLUSTER_SECRET: 'a-secret-of-32-characters-or-more',
    CLUSTER_ALLOW_PLAINTEXT: 'true',
  })
  return cluster!.redis
}

export interface StartedEngines {
  url: string
  servers: readonly Redis[]
  stop(): Promise<void>
}

/** One server that speaks TLS, with a certificate for `localhost` of the CA. */
export async function startRedisTls(authority: CertificateAuthority): Promise<StartedEngines> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-redis-tls-'))
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')]
  const leaf = createLeaf(authority, 'localhost')
  await Promise.all([writeFile(certificate, leaf.chain), writeFile(key, leaf.key, { mode: 0o600 })])
  const port = await freePort()
  // Whoever connects has a password, and no certificate.
  const tls = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-auth-clients', 'no']
  const server = await startRedis({ args: ['--tls-port', `${port}`, ...tls] }).catch(async (error) => {
    await rm(directory, { recursive: true })
    throw error
  })
  const stop = async (): Promise<void> => {
    await server.stop()
    await rm(directory, { recursive: true })
  }
  return { url: `rediss://:${server.password}@localhost:${port}/0`, servers: [server], stop }
}

/** A Cluster of three masters. Its nodes have one password. */
export async function startRedisCluster(): Promise<StartedEngines> {
  const servers: Redis[] = []
  const password = 'one-password-of-all-nodes'
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())))
  try {
    // The bus of a node has a port of its own, which is its port and 10,000 more unless it is told.
    for (let index = 0; index < 3; index++)
      servers.push(
        await startRedis({
          password,
          args: ['--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`],
        }),
      )
    for (const [index, server] of servers.entries()) {
      const [first, last] = [index, index + 1].map((part) => Math.floor((SLOTS * part) / 3)) as [
        number,
        number,
      ]
      await server.cli('CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${last - 1}`)
      await server.cli('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`)
    }
    for (const { port } of servers.slice(1)) {
      const bus = await busPortOf(servers.find((server) => server.port === port)!)
      await servers[0]!.cli('CLUSTER', 'MEET', '127.0.0.1', `${port}`, bus)
    }
    for (const { cli } of servers)
      while (!(await cli('CLUSTER', 'INFO')).includes('cluster_state:ok')) await sleep(LOOK_MS)
  } catch (error) {
    await stop()
    throw error
  }
  const nodes = servers.map(({ port }) => `127.0.0.1:${port}`).join()
  return { url: `redis+cluster://:${password}@${nodes}`, servers, stop }
}

/** A master and its replica, which one Sentinel watches. */
export async function startRedisSentinel(): Promise<StartedEngines> {
  const master = await startRedis()
  const { password } = master
  const replica = await startRedis({
    password,
    args: ['--replicaof', '127.0.0.1', `${master.port}`, '--masterauth', password],
  })
  const directory = await mkdtemp(join(tmpdir(), 'svc-sentinel-'))
  const port = await freePort()
  const config = join(directory, 'sentinel.conf')
  await writeFile(
    config,
    [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${directory}`,
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      `sentinel auth-pass main ${password}`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 2000',
      '',
    ].join('\n'),
  )
  const sentinel: ChildProcess = spawn('redis-server', [config, '--sentinel'], { stdio: 'ignore' })
  return {
    url: `redis+sentinel://:${password}@127.0.0.1:${port}/main`,
    servers: [master, replica],
    stop: async () => {
      const ended = once(sentinel, 'exit')
      sentinel.kill('SIGKILL')
      await ended
      await Promise.all([master.stop(), replica.stop()])
      await rm(directory, { recursive: true })
    },
  }
}

async function busPortOf({ cli }: Redis): Promise<string> {
  return (await cli('CONFIG', 'GET', 'cluster-port')).split('\n')[1]!
}
