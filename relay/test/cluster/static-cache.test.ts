// Stored files on several machines: one of them has those of a site, and visitors and sites may come in at any of them.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AdminCacheResponse, type CachedSite, identityKey, type RegisterResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import { post, put, remove, statusOf, visit } from '../support/cache-client.ts'
import {
  ADMIN,
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { manifestOf } from '../support/multipart-body.ts'
import { type Answer, newAccount } from '../support/relay.ts'
import { nodeHttp, openTlsSite } from '../support/tls-site.ts'

const SOON = { timeout: WAIT_TIMEOUT_MS }
const FILES = { 'index.html': Buffer.from('<h1>stored</h1>') }
const OTHER = { 'index.html': Buffer.from('<h1>another</h1>') }
/** Stored files come at once. */
const NO_ANSWER_MS = 1_000
/** Every machine has heard of a change. */
const SHORTLY_MS = 300
const SHORT_TTL_S = 30
/** Time for what goes to Redis. */
const SLOW_MS = 50
const BIG_BYTES = 5_000_000

let cluster: ClusterRelays
let a: ClusterRelay
let b: ClusterRelay
let c: ClusterRelay

const register = (relay: ClusterRelay, name: string, fields = {}): Promise<RegisterResponse> =>
  relay.register(name, { cache: true, ...fields })
const codeOf = ({ status, json }: Answer): unknown[] => [status, (json.error as { code?: string })?.code]
/** The page that a visitor gets; undefined where the visitor waits for the live site, or there is none. */
const textAt = async (relay: ClusterRelay, lease: RegisterResponse): Promise<string | undefined> => {
  const visited = visit(relay, lease).then((answer) => answer?.text)
  visited.catch(() => {})
  return await Promise.race([visited, sleep(NO_ANSWER_MS, undefined)])
}
const texts = (lease: RegisterResponse): Promise<(string | undefined)[]> =>
  Promise.all(cluster.relays.map((relay) => textAt(relay, lease)))
const NONE = [undefined, undefined, undefined]
const three = (text: string): string[] => [text, text, text]

describe.each(atDepth([1, 2], [2]))('machines of %i processes', (workers) => {
  describe.skipIf(whyNoRedis() !== undefined)(`three of them (skipped: ${whyNoRedis()})`, () => {
    beforeAll(async () => {
      cluster = await startClusterRelays(3, {
        STATIC_CACHE_ENABLED: 'true',
        ...(workers > 1 && { WORKERS: `${workers}` }),
      })
    })
    beforeAll(() => {
      ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
    })
    afterEach(() => {
      ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
    })
    afterAll(() => cluster?.close(), 60_000)

    test('serve files that one of them has, also when the site is away', async () => {
      const lease = await register(a, 'stored')
      expect(statusOf(await put(b, lease, FILES)).present).toBe(true)
      await expect.poll(() => texts(lease)).toEqual(three('<h1>stored</h1>'))
      for (const relay of cluster.relays) {
        const { present, expires_at } = statusOf(await post(relay, lease, manifestOf(FILES)))
        expect([present, Date.parse(expires_at ?? '') > Date.now()]).toEqual([true, true])
      }
      await c.call('POST', '/sdk/unregister', { access_token: lease.access_token })
      await sleep(SHORTLY_MS)
      await expect.poll(() => texts(lease)).toEqual(three('<h1>stored</h1>'))
      for (const relay of cluster.relays)
        expect(await listedAt(relay, lease)).toMatchObject({
          files: 1,
          bytes: FILES['index.html'].length,
          has_lease: false,
          is_served: true,
          machine: b.machine,
        })
    })

    wholeOnly(test, 'depth')('pass on a big file whole', async () => {
      const big = randomBytes(BIG_BYTES)
      const lease = await register(a, 'big')
      await put(a, lease, { 'index.html': FILES['index.html'], 'big.txt': Buffer.from(big.toString('hex')) })
      expect((await visit(c, lease, '/big.txt'))?.text === big.toString('hex')).toBe(true)
    })

    wholeOnly(test, 'variant')(
      'remove files at once where another manifest is asked for at another machine',
      async () => {
        const lease = await register(a, 'changed')
        await put(a, lease, FILES)
        expect(statusOf(await post(b, lease, manifestOf(OTHER))).present).toBe(false)
        expect(await texts(lease)).toEqual(NONE)
        await put(c, lease, OTHER)
        await expect.poll(() => texts(lease)).toEqual(three('<h1>another</h1>'))
      },
    )

    test('have one snapshot of a site, the last that it stored', async () => {
      const lease = await register(a, 'moved')
      await put(a, lease, FILES)
      await put(b, lease, OTHER)
      await expect.poll(() => texts(lease)).toEqual(three('<h1>another</h1>'))
      await put(a, lease, FILES)
      await expect.poll(() => texts(lease)).toEqual(three('<h1>stored</h1>'))
    })

    test('remove files at once that a site removes at another machine', async () => {
      const lease = await register(a, 'removed')
      await put(a, lease, FILES)
      expect((await remove(c, lease)).status).toBe(200)
      expect(await texts(lease)).toEqual(NONE)
      for (const relay of cluster.relays)
        expect(statusOf(await post(relay, lease, manifestOf(FILES))).present).toBe(false)
    })

    wholeOnly(test, 'variant')(
      'remove files of a site that comes back without the cache at another machine',
      async () => {
        const account = newAccount()
        const lease = await register(a, 'without', { account })
        await put(a, lease, FILES)
        await b.register('without', { account })
        await expect.poll(() => texts(lease), SOON).toEqual(NONE)
      },
    )

    wholeOnly(test, 'variant')(
      'pass requests that the files do not answer on to the live site, whichever machine it is at',
      async () => {
        const lease = await register(a, 'live')
        const authority = await authorityOf(a)
        const names = [lease.hostname, lease.canonical_hostname]
        const { chain: cert, key } = createLeaf(authority, lease.hostname, names)
        const { serve } = nodeHttp((request, response) => void response.end(`live ${request.url}`))
        const site = await openTlsSite(c, lease.reverse_endpoint.capability, { cert, key, serve })
        try {
          await put(b, lease, FILES)
          for (const relay of cluster.relays) {
            expect(await textAt(relay, lease)).toBe('<h1>stored</h1>')
            expect((await visit(relay, lease, '/api.json'))?.text).toBe('live /api.json')
          }
        } finally {
          await site.close()
        }
      },
    )

    test('give nobody the files of an identity that is banned at one of them, and end what visitors of all have', async () => {
      const lease = await register(a, 'banned')
      await put(a, lease, FILES)
      const { canonical_hostname: servername, identity } = lease
      const open = cluster.relays.map((relay) => relay.tls(servername))
      await Promise.all(open.map((socket) => once(socket, 'secureConnect')))
      // A ban resets them.
      const closed = Promise.all(
        open.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))),
      )
      const ban = { identity_key: `${identity.name}:${identity.address}`, is_banned: true }
      expect((await b.call('POST', '/api/policy/leases', ban, ADMIN)).status).toBe(200)
      await closed
      await expect.poll(() => texts(lease), SOON).toEqual(NONE)
      await expect.poll(() => entriesOf(lease), SOON).toBe(0)
    })

    wholeOnly(test, 'faults')(
      'store nothing that the others cannot hear of, and serve what they have',
      async () => {
        const [lease, other] = [await register(a, 'outage'), await register(a, 'outage-too')]
        await put(a, lease, FILES)
        await cluster.redis.kill()
        try {
          await expect
            .poll(async () => codeOf(await put(a, other, FILES)), SOON)
            .toEqual([503, 'feature_unavailable'])
          await expect.poll(() => texts(lease)).toEqual(three('<h1>stored</h1>'))
          expect(statusOf(await post(b, lease, manifestOf(FILES))).present).toBe(true)
          expect(codeOf(await remove(b, lease))).toEqual([503, 'feature_unavailable'])
        } finally {
          await cluster.redis.restart()
        }
        await expect.poll(async () => (await put(a, other, FILES)).status, SOON).toBe(200)
        await expect.poll(() => texts(other)).toEqual(three('<h1>stored</h1>'))
      },
    )

    wholeOnly(test, 'faults')(
      'tell one that does not reach Redis what a site stores and removes',
      async () => {
        const lease = await register(a, 'told')
        a.redisWay.isDown = true
        a.redisWay.cut()
        try {
          await expect
            .poll(async () => codeOf(await put(a, lease, FILES)), SOON)
            .toContain('feature_unavailable')
          await put(b, lease, FILES)
          await expect.poll(() => texts(lease)).toEqual(three('<h1>stored</h1>'))
          expect((await remove(c, lease)).status).toBe(200)
          expect(await texts(lease)).toEqual(NONE)
        } finally {
          a.redisWay.isDown = false
        }
        await expect.poll(async () => (await put(a, lease, FILES)).status, SOON).toBe(200)
      },
    )

    wholeOnly(test, 'faults')(
      'know after Redis has lost everything which of them has which files',
      async () => {
        const lease = await register(a, 'lost')
        await put(b, lease, FILES)
        await cluster.redis.restart({ withoutData: true })
        await expect.poll(async () => (await a.call('GET', '/api/healthz')).status, SOON).toBe(200)
        await expect.poll(() => entriesOf(lease), SOON).toBe(1)
        // They learn of each other's files one after the other.
        await expect.poll(() => texts(lease), SOON).toEqual(three('<h1>stored</h1>'))
      },
    )

    wholeOnly(test, 'faults')(
      'give visitors the live site while the machine with the files is away, and its files when it is back',
      async () => {
        // Redis was restarted before, and each machine finds that out by itself.
        const lease = await vi.waitFor(() => register(a, 'back'), SOON)
        await expect.poll(async () => (await put(c, lease, FILES)).status, SOON).toBe(200)
        await c.stop()
        await expect.poll(() => textAt(a, lease), SOON).toBeUndefined()
        expect(statusOf(await post(a, lease, manifestOf(FILES))).present).toBe(false)
        c = await cluster.add({}, c)
        await put(b, lease, OTHER)
        await expect.poll(() => texts(lease), SOON).toEqual(three('<h1>another</h1>'))
      },
    )

    wholeOnly(test, 'faults')(
      'forget the files of a machine that comes back after another one has stored later ones',
      async () => {
        const account = newAccount()
        await put(c, await register(a, 'late', { account }), FILES)
        await c.stop()
        // The end of what the machine has moves by that, which it tells when it is back, and before it has read what Redis says.
        const lease = await register(b, 'late', { account, ttl: SHORT_TTL_S })
        expect(statusOf(await put(b, lease, OTHER)).present).toBe(true)
        c.redisWay.delayMs = SLOW_MS
        c = await cluster.add({}, c)
        c.redisWay.delayMs = 0
        await expect.poll(() => texts(lease), SOON).toEqual(three('<h1>another</h1>'))
      },
    )

    wholeOnly(test, 'faults')(
      'forget the files of a machine that comes back after the site has removed them',
      async () => {
        const lease = await register(a, 'taken-back')
        await put(c, lease, FILES)
        await c.stop()
        expect((await remove(b, lease)).status).toBe(200)
        c = await cluster.add({}, c)
        await expect.poll(() => entriesOf(lease), SOON).toBe(0)
        expect(statusOf(await post(c, lease, manifestOf(FILES))).present).toBe(false)
        expect(await texts(lease)).toEqual(NONE)
      },
    )

    wholeOnly(test, 'faults')('serve the files of a machine again that comes back with them', async () => {
      const lease = await register(a, 'kept')
      await put(c, lease, FILES)
      await c.stop()
      await expect.poll(() => textAt(b, lease), SOON).toBeUndefined()
      c = await cluster.add({}, c)
      await expect.poll(() => texts(lease), SOON).toEqual(three('<h1>stored</h1>'))
    })
  })
})

/** The entries of Redis that say which machine has the files of a site. */
async function entriesOf({ identity: { name, address } }: RegisterResponse): Promise<number> {
  const key = identityKey(name, address)
  const entry = await cluster.redis.cli('GET', cluster.keys.snapshot(cluster.keys.identityName(key)))
  return /^\d+ [^- ]\S* /.test(entry) ? 1 : 0
}

/** The line of a site in the operator's list. */
async function listedAt(relay: ClusterRelay, lease: RegisterResponse): Promise<CachedSite | undefined> {
  const { data } = (await relay.call('GET', '/api/admin/cache', undefined, ADMIN)).json
  const { sites } = data as unknown as AdminCacheResponse
  return sites.find(({ hostname }) => hostname === lease.canonical_hostname)
}

async function authorityOf({ directory }: ClusterRelay): Promise<{ certificate: string; key: string }> {
  const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8')
  return { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
}
