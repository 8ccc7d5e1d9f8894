// A Redis that is more than one server: machines share their leases through a Cluster, and behind Sentinels.

import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, test as every, expect, onTestFinished } from 'vitest'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { findValkey } from '../../../tools/programs/services.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createCa } from '../../src/core/certificates/development-ca.ts'
import { type ClusterRelay, startClusterRelays, untilLinked, whyNoRedis } from '../support/cluster-relays.ts'
import { startRedisCluster, startRedisSentinel, startRedisTls } from '../support/redis-servers.ts'
import type { TestClient } from '../support/relay.ts'

const test = wholeOnly(every, 'variant')

const renew = async (relay: TestClient, { access_token }: { access_token: string }): Promise<number> =>
  (await relay.call('POST', '/sdk/renew', { access_token })).status

/** Two machines whose redis is at `url`. */
async function start(url: string, server: Redis): Promise<[ClusterRelay, ClusterRelay]> {
  const cluster = await startClusterRelays(0, {}, server)
  onTestFinished(() => cluster.close())
  for (let index = 0; index < 2; index++) await cluster.add({ CLUSTER_URL: url })
  await untilLinked(cluster.relays)
  return cluster.relays as [ClusterRelay, ClusterRelay]
}

async function expectShared(a: TestClient, b: TestClient, name: string): Promise<void> {
  const lease = await a.register(name)
  expect(await renew(b, lease)).toBe(200)
  await expect(b.register(name)).rejects.toThrow('hostname_conflict')
  expect((await b.call('POST', '/sdk/unregister', { access_token: lease.access_token })).status).toBe(200)
  expect(await renew(a, lease)).toBe(404)
}

describe.skipIf(whyNoRedis() !== undefined)(`machines share leases (skipped: ${whyNoRedis()})`, () => {
  test('through a Redis Cluster, which they find by any of its nodes', async () => {
    const group = await startRedisCluster()
    onTestFinished(group.stop)
    const [a, b] = await start(group.url, group.servers[0]!)
    await expectShared(a, b, 'clustered')
    // All of a relay is at one node, since scripts change several entries in one step.
    const sizes = await Promise.all(group.servers.map(async ({ cli }) => Number(await cli('DBSIZE'))))
    expect(sizes.filter((size) => size > 0)).toHaveLength(1)
  })

  test('behind a Sentinel, also when another server is the master since', async () => {
    const group = await startRedisSentinel()
    onTestFinished(group.stop)
    const [master, replica] = group.servers as [Redis, Redis]
    const [a, b] = await start(group.url, master)
    await expectShared(a, b, 'watched')
    const lease = await a.register('survives')
    await expect.poll(() => replica.cli('INFO', 'replication')).toContain('master_link_status:up')
    await master.kill()
    expect(await renew(b, lease)).toBe(200)
    await expect
      .poll(() =>
        expectShared(a, b, 'again').then(
          () => 'shared',
          (error) => String(error),
        ),
      )
      .toBe('shared')
    expect(await renew(b, lease)).toBe(200)
  })

  test('through TLS, to a server whose certificate is of a CA that they trust', async () => {
    const authority = createCa('localhost')
    const group = await startRedisTls(authority)
    onTestFinished(group.stop)
    const trusted = getCACertificates('default')
    // As an operator does with NODE_EXTRA_CA_CERTS.
    setDefaultCACertificates([...trusted, authority.certificate])
    onTestFinished(() => setDefaultCACertificates(trusted))
    const [a, b] = await start(group.url, group.servers[0]!)
    await expectShared(a, b, 'encrypted')
  })

  test('and do not start with a server of another CA', async () => {
    const group = await startRedisTls(createCa('localhost'))
    onTestFinished(group.stop)
    await expect(start(group.url, group.servers[0]!)).rejects.toThrow(/CLUSTER_URL.*certificate/)
  })

  test.skipIf(!findValkey())('through a Valkey', async () => {
    const valkey = await startRedis({ program: 'valkey-server' })
    onTestFinished(() => valkey.stop())
    const [a, b] = await start(valkey.url, valkey)
    await expectShared(a, b, 'valkey')
  })
})
