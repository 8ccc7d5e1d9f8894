// `svc-relay check` of a relay on several machines: Redis, who is there, the secret, and the port for the others.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { findRedis } from '../../../tools/programs/services.ts'
import { reportOf } from '../../src/cli/check/report.ts'
import { freePort, startTestRelay } from '../support/relay.ts'

// Debian redis-server is missing, and cannot be installed here.
describe.skipIf(findRedis() === undefined)('machines', () => {
  const secret = randomBytes(32).toString('base64')
  let redis: Redis
  let directory: string
  beforeAll(async () => {
    redis = await startRedis()
    directory = await mkdtemp(join(tmpdir(), 'svc-check-cluster-'))
  })
  afterAll(async () => {
    await redis.stop()
    await rm(directory, { recursive: true })
  })

  async function found(env: Record<string, string>): Promise<[string, string][]> {
    const { findings } = await reportOf({ IDENTITY_PATH: join(directory, 'state'), ...env })
    return findings
      .filter(({ feature }) => feature === 'machines')
      .map(({ status, message }) => [status, message])
  }
  const settings = (url: string, port: number): Record<string, string> => ({
    SVC_URL: url,
    CLUSTER_URL: redis.url,
    CLUSTER_ADDR: `127.0.0.1:${port}`,
    CLUSTER_SECRET: secret,
  })

  test('a relay of one machine has none', async () => {
    expect(await found({ SVC_URL: 'https://relay.localhost' })).toEqual([
      ['off', 'CLUSTER_URL is not set: the relay is one machine.'],
    ])
  })

  test('the first machine finds Redis and nobody else, and may listen', async () => {
    const port = await freePort()
    expect(await found(settings('https://relay.localhost:4433', port))).toEqual([
      ['ok', expect.stringMatching(/^Redis \([\d.]+\) answers; no other machine is there\.$/)],
      ['ok', 'Redis is on this machine: what the machine tells it does not leave it.'],
      ['ok', `Other machines reach this one at 127.0.0.1:${port}; it listens at TCP port ${port}.`],
    ])
  })

  test('a further machine finds the first one, and another secret is an error', async () => {
    const [port, sniPort] = [await freePort(), await freePort()]
    const url = `https://relay.localhost:${sniPort}`
    const first = await startTestRelay({ ...settings(url, port), SNI_PORT: `${sniPort}` })
    try {
      const own = settings(url, await freePort())
      expect(await found(own)).toContainEqual([
        'ok',
        expect.stringContaining(`others there: 127.0.0.1:${port}`),
      ])
      const other = { ...own, CLUSTER_SECRET: randomBytes(32).toString('base64') }
      expect(await found(other)).toContainEqual([
        'error',
        'CLUSTER_SECRET is another one than that of the other machines.',
      ])
      const taken = settings(url, port)
      expect(await found(taken)).toContainEqual([
        'error',
        expect.stringContaining(`cannot listen at port ${port}`),
      ])
    } finally {
      await first.close()
    }
  })

  test('a Redis that may drop entries, or lose them at its end, is a warning', async () => {
    await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await redis.cli('CONFIG', 'SET', 'appendonly', 'no')
    const warnings = await found(settings('https://relay.localhost:4433', await freePort()))
    expect(warnings.filter(([status]) => status === 'warning').map(([, message]) => message)).toEqual([
      expect.stringContaining('appendonly is no'),
      expect.stringContaining('maxmemory-policy'),
    ])
  })

  test('a Redis that does not answer is an error, which shows no password', async () => {
    await redis.kill()
    const [[status, message] = ['', '']] = await found(
      settings('https://relay.localhost:4433', await freePort()),
    )
    expect([status, message]).toEqual(['error', expect.stringMatching(/^CLUSTER_URL: Redis does not answer/)])
    expect(message).not.toContain(redis.password)
  })
})
