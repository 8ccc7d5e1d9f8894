// Stored sites at a whole relay: its settings, its restarts, its worker processes, its disk, and its metrics.

import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { DomainResponse, RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { post, put, statusOf, visit } from '../support/cache-client.ts'
import { manifestOf } from '../support/multipart-body.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const FILES = { 'index.html': '<h1>stored</h1>' }
const KIB = 1024
const MIB = 1024 * KIB
const HOUR_S = 3600
const ADMIN_TOKEN = 'an-admin-token-of-32-characters!'

let directory: string
let relay: TestRelay
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-stored-'))
})
afterEach(async () => {
  await relay.stop()
  await rm(directory, { recursive: true })
})

const start = async (env: Record<string, string> = {}): Promise<void> => {
  relay = await startTestRelay({ STATIC_CACHE_ENABLED: 'true', ...env }, { directory })
}
const limits = async () => {
  const { json } = await relay.call('GET', '/sdk/domain')
  return (json.data as unknown as DomainResponse).cache
}
const usedBytes = async (): Promise<number> => {
  const { json } = await relay.call('GET', '/api/admin/cache', undefined, {
    Authorization: `Bearer ${ADMIN_TOKEN}`,
  })
  return (json.data as unknown as { used_bytes: number }).used_bytes
}
const leave = ({ access_token }: RegisterResponse) => relay.call('POST', '/sdk/unregister', { access_token })

test('the limits are a quarter of the budget, and no more than 64 MiB and 10 MiB (protocol §15.1.3)', async () => {
  await start()
  expect(await limits()).toEqual({ max_exposure_bytes: 64 * MIB, max_object_size: 10 * MIB })
  await relay.stop()
  await start({ STATIC_CACHE_BYTES: `${4 * MIB}` })
  expect(await limits()).toEqual({ max_exposure_bytes: MIB, max_object_size: MIB })
  const site = await relay.register('large', { cache: true })
  const half = 'x'.repeat(MIB / 2)
  expect(await put(relay, site, { a: half, b: half })).toMatchObject({ status: 200 })
  expect(await put(relay, site, { a: half, b: `${half}x` })).toMatchObject({ status: 400 })
  expect(await visit(relay, site)).toMatchObject({ status: 200, text: half })
  await relay.stop()
  await start({ STATIC_CACHE_ENABLED: 'false' })
  expect(await limits()).toBeUndefined()
})

test('a site keeps its files for as long as it asks for, and no longer than the operator allows', async () => {
  await start({ STATIC_CACHE_TTL_MAX: `${48 * HOUR_S}` })
  const hoursOf = async (name: string, cache_ttl: number): Promise<number> => {
    const site = await relay.register(name, { cache: true, cache_ttl })
    const { expires_at } = statusOf(await put(relay, site, FILES))
    return Math.round((Date.parse(expires_at!) - Date.now()) / 1000 / HOUR_S)
  }
  expect(await hoursOf('brief', HOUR_S)).toBe(1)
  expect(await hoursOf('long', 36 * HOUR_S)).toBe(36)
  expect(await hoursOf('longer', 72 * HOUR_S)).toBe(48)
  expect(await hoursOf('any', 0)).toBe(48)
})

test('a restart keeps the files, and the lease that comes back goes on with them', async () => {
  const account = newAccount()
  await start()
  const site = await relay.register('kept', { account, cache: true, cache_ttl: 600 })
  const { expires_at } = statusOf(await put(relay, site, FILES))
  await relay.stop()
  await start({ SNI_PORT: `${relay.port}` })
  expect(await visit(relay, site)).toMatchObject({ status: 200, text: FILES['index.html'] })
  const back = await relay.register('kept', { account, cache: true, cache_ttl: 600 })
  const again = statusOf(await post(relay, back, manifestOf(FILES)))
  expect(again.present).toBe(true)
  expect(Date.parse(again.expires_at!)).toBeGreaterThan(Date.parse(expires_at!))
})

test('a ban while the relay is stopped removes the files at its start', async () => {
  await start()
  const site = await relay.register('banned', { cache: true })
  await put(relay, site, FILES)
  await relay.stop()
  const policy = {
    approval_mode: 'auto',
    approved_identity_keys: [],
    denied_identity_keys: [],
    banned_identity_keys: [`${site.identity.name}:${site.identity.address}`],
    banned_ips: [],
    identity_bps: {},
    udp_enabled: false,
    udp_max_leases: 0,
    tcp_port_enabled: false,
    tcp_port_max_leases: 0,
    landing_page_enabled: true,
  }
  await writeFile(join(directory, 'policy.json'), JSON.stringify(policy), { mode: 0o600 })
  await start({ SNI_PORT: `${relay.port}` })
  expect(await visit(relay, site)).toBeUndefined()
})

wholeOnly(test, 'variant')(
  'visitors who come to a worker process get the files, and none when they are gone',
  async () => {
    await start({ SVC_WORKERS: '2' })
    const site = await relay.register('worked', { cache: true })
    await put(relay, site, FILES)
    await leave(site)
    // The kernel chooses the process that a connection comes to.
    for (let visits = 0; visits < 20; visits++)
      expect(await visit(relay, site)).toMatchObject({ status: 200, text: FILES['index.html'] })
  },
)

test('an upload takes the place of what nobody used for longest, when the budget is used up', async () => {
  await start({ STATIC_CACHE_BYTES: `${MIB}` })
  const sites: RegisterResponse[] = []
  for (const name of ['first', 'second', 'third', 'fourth']) {
    const site = await relay.register(name, { cache: true })
    sites.push(site)
    expect(await put(relay, site, { 'film.webm': name.padEnd(200 * KIB) })).toMatchObject({ status: 200 })
    await leave(site)
  }
  await visit(relay, sites[0]!)
  const fifth = await relay.register('fifth', { cache: true })
  expect(await put(relay, fifth, { 'film.webm': 'fifth'.padEnd(250 * KIB) })).toMatchObject({ status: 200 })
  await leave(fifth)
  const found = await Promise.all([...sites, fifth].map(async (site) => (await visit(relay, site))?.status))
  expect(found).toEqual([200, undefined, 200, 200, 200])
})

wholeOnly(test, 'depth')(
  'a site holds no more of the disk with files that it replaced, whatever a visitor keeps of them',
  async () => {
    const bytes = 40 * MIB
    await start({ STATIC_CACHE_BYTES: `${bytes}`, ADMIN_TOKEN })
    const site = await relay.register('greedy', { cache: true })
    const visitors: TLSSocket[] = []
    for (const letter of 'abcde') {
      expect(await put(relay, site, { 'film.webm': Buffer.alloc(9 * MIB, letter) })).toMatchObject({
        status: 200,
      })
      const visitor = relay.tls(site.canonical_hostname).on('error', () => {})
      visitors.push(visitor)
      await once(visitor, 'secureConnect')
      const get = `GET / HTTP/1.1\r\nHost: ${site.canonical_hostname}:${relay.port}\r\n\r\n`
      visitor.write(get.repeat(8))
      await once(visitor, 'readable')
      // The snapshot that is there, and the one that it replaced.
      expect(await usedBytes()).toBeLessThan(bytes / 2)
    }
    // The one of the last files goes on.
    const last = visitors.at(-1)!
    let text = ''
    last.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk.replaceAll('e', '')
    })
    await expect.poll(() => text.split('HTTP/1.1 200').length - 1, { timeout: 60_000 }).toBe(8)
    for (const visitor of visitors) visitor.destroy()
  },
)

test('an upload for which there is no room is put off, in plain text', async () => {
  // The record that the store writes of a snapshot takes more than that.
  await start({ STATIC_CACHE_BYTES: '8192' })
  const site = await relay.register('small', { cache: true })
  expect(await put(relay, site, FILES)).toMatchObject({
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' },
    text: 'the static cache has no room for the upload\n',
  })
})

test('the metrics count sites, bytes, uploads and requests, and say nothing of them while the cache is off', async () => {
  const metricsPort = await freePort()
  const scrape = async (): Promise<string[]> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return text.split('\n').filter((line) => line.startsWith('svc_relay_cache_'))
  }
  await start({ METRICS_ADDR: `${metricsPort}` })
  const site = await relay.register('counted', { cache: true })
  await put(relay, site, FILES)
  await leave(site)
  await visit(relay, site)
  await visit(relay, site, '/missing.png')
  expect(await scrape()).toEqual([
    'svc_relay_cache_snapshots 1',
    expect.stringMatching(/^svc_relay_cache_used_bytes \d{4,}$/),
    // The relay may not have heard yet that the visitors closed theirs.
    expect.stringMatching(/^svc_relay_cache_connections [012]$/),
    `svc_relay_cache_sent_bytes_total ${FILES['index.html'].length}`,
    'svc_relay_cache_uploads_total{result="stored"} 1',
    'svc_relay_cache_requests_total{result="hit"} 1',
    'svc_relay_cache_requests_total{result="away"} 1',
  ])
  await relay.stop()
  await start({ METRICS_ADDR: `${metricsPort}`, STATIC_CACHE_ENABLED: 'false' })
  expect(await scrape()).toEqual([])
})

wholeOnly(test, 'clock')(
  'the bandwidth that the operator allows an identity holds for its files, while the site is away, too',
  async () => {
    const [token, bps] = ['a-long-random-value', 100_000]
    await start({ ADMIN_TOKEN: token })
    const site = await relay.register('slow', { cache: true })
    await put(relay, site, { 'index.html': 'x'.repeat(2 * bps) })
    await leave(site)
    const identity_key = `${site.identity.name}:${site.identity.address}`
    const limited = await relay.call(
      'POST',
      '/api/policy/leases',
      { identity_key, bps },
      { Authorization: `Bearer ${token}` },
    )
    expect(limited.status).toBe(200)
    const begin = performance.now()
    const visits = await Promise.all([visit(relay, site), visit(relay, site)])
    for (const answer of visits) expect(answer?.text).toHaveLength(2 * bps)
    // A second's worth has accumulated.
    expect(4 * bps).toBeLessThanOrEqual(((performance.now() - begin) / 1000 + 1) * bps)
  },
)

test('a folder that cannot be used is an error of the setting, and the relay does not start', async () => {
  await start({ STATIC_CACHE_ENABLED: 'false' })
  await relay.stop()
  await writeFile(join(directory, 'static-cache'), '')
  await expect(start()).rejects.toMatchObject({ name: 'SettingsError', setting: 'STATIC_CACHE_ENABLED' })
})
