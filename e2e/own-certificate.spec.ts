// A page with a certificate of its own: its key stays in IndexedDB, where no script can read it, and its visitors cost the
// relay no signature.

import type { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:tls'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

interface Published {
  url: string
  /** How often the page asked the relay for a certificate so far. */
  requests: () => number
  /** How often it asked for a signature. */
  signatures: () => number
}

/** Publishes in the page, and waits for the certificate of its own. */
async function publishOwn(page: Page, relay: TestRelay, name: string): Promise<Published> {
  const paths: string[] = []
  page.on('request', (request) => paths.push(new URL(request.url()).pathname))
  const count = (path: string) => () => paths.filter((asked) => asked === path).length
  const url = await page.evaluate(
    async ([relayUrl, name]) => {
      const own = Promise.withResolvers<void>()
      const site = await svc.publish({
        relay: relayUrl,
        name,
        fetch: () => new Response('hello'),
        debug: ({ type }) => type === 'certificate' && own.resolve(),
      })
      await own.promise
      return site.url
    },
    [relay.url, name] as const,
  )
  return { url, requests: count('/sdk/certificate'), signatures: count('/v1/sign') }
}

async function shownAt(url: string, relay: TestRelay): Promise<X509Certificate> {
  const { hostname: servername, port } = new URL(url)
  const ca = await readFile(relay.caFile)
  const socket = connect({ host: '127.0.0.1', port: Number(port), servername, ca })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const certificate = socket.getPeerX509Certificate()!
  socket.destroy()
  return certificate
}

test('is verified by its visitors, and the relay signs nothing for them', async ({
  relay,
  tenant,
  visitor,
}) => {
  const { url, signatures } = await publishOwn(tenant, relay, 'own-own')
  const certificate = await shownAt(url, relay)
  expect(certificate.checkHost(new URL(url).hostname)).toBeDefined()
  const relays = await shownAt(relay.url, relay)
  expect(certificate.publicKey.equals(relays.publicKey)).toBe(false)
  const version = ['--http2', '--write-out', ' %{http_version}']
  expect(String(await curl(relay.caFile, ...version, url))).toBe('hello 2')
  // A HelloRetryRequest and SHA-384, which the relay would have to sign for.
  expect(
    String(await curl(relay.caFile, '--curves', 'P-384', '--tls13-ciphers', 'TLS_AES_256_GCM_SHA384', url)),
  ).toBe('hello')
  await visitor.goto(url)
  await expect(visitor.getByText('hello')).toBeVisible()
  expect(signatures()).toBe(0)
})

wholeOnly(test, 'variant')(
  'outlives a reload, with its key and without a request',
  async ({ relay, tenant }) => {
    const first = await publishOwn(tenant, relay, 'own-reload')
    expect(first.requests()).toBe(1)
    const before = await shownAt(first.url, relay)
    await tenant.reload()
    const second = await publishOwn(tenant, relay, 'own-reload')
    expect(second.url).toBe(first.url)
    expect((await shownAt(second.url, relay)).fingerprint256).toBe(before.fingerprint256)
    expect(second.requests()).toBe(0)
  },
)

test('has a key that no script can export', async ({ relay, tenant }) => {
  await publishOwn(tenant, relay, 'own-kept')
  const kept = await tenant.evaluate(async () => {
    const request = <T>(asked: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        asked.onsuccess = () => resolve(asked.result)
        asked.onerror = () => reject(asked.error)
      })
    const database = await request(indexedDB.open('svc-certificates'))
    const entries: { privateKey: CryptoKey }[] = await request(
      database.transaction('site').objectStore('site').getAll(),
    )
    const formats = ['pkcs8', 'jwk', 'raw', 'spki'] as const
    const exports = entries.flatMap(({ privateKey }) =>
      formats.map((format) =>
        crypto.subtle.exportKey(format as 'jwk', privateKey).then(
          () => 'exported',
          ({ name }) => name,
        ),
      ),
    )
    return {
      keys: entries.map(({ privateKey: { type, extractable, usages } }) => ({ type, extractable, usages })),
      exports: await Promise.all(exports),
    }
  })
  expect(kept.keys).toEqual([{ type: 'private', extractable: false, usages: ['sign'] }])
  expect(kept.exports).not.toContain('exported')
})

wholeOnly(test, 'variant')('is not asked for where the options say so', async ({ relay, tenant }) => {
  const paths: string[] = []
  tenant.on('request', (request) => paths.push(new URL(request.url()).pathname))
  const urls = await tenant.evaluate(async (relayUrl) => {
    const fetch = (): Response => new Response('hello')
    const shared = await svc.publish({ relay: relayUrl, name: 'own-shared', certificate: 'shared', fetch })
    return [shared.url]
  }, relay.url)
  const relays = await shownAt(relay.url, relay)
  for (const url of urls) expect((await shownAt(url, relay)).publicKey.equals(relays.publicKey)).toBe(true)
  // The browser tells of a request a moment after the page has its answer.
  await expect.poll(() => paths).toContain('/v1/sign')
  expect(paths).not.toContain('/sdk/certificate')
})
