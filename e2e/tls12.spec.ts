// Clients that know nothing newer than TLS 1.2 reach a site that wants them, through the relay's own signer.
import { readFile } from 'node:fs/promises'
import { publish } from '@svc/sdk-node'
import { expect, test } from './fixtures.ts'
import { curl } from './harness/curl.ts'

const TLS12 = ['--tls-max', '1.2', '--write-out', '\n%{http_version} %{ssl_verify_result}']

test('a site that Node publishes', async ({ relay }) => {
  const site = await publish({
    relay: relay.url,
    name: 'old-node',
    ca: await readFile(relay.caFile, 'utf8'),
    identity: crypto.getRandomValues(new Uint8Array(32)),
    fetch: (request) => new Response(`${request.method} over an old version`),
    tls: { minVersion: 'TLSv1.2' },
  })
  for (const url of [site.url, site.canonicalUrl])
    expect(String(await curl(relay.caFile, ...TLS12, url))).toBe('GET over an old version\n2 0')
  // Those who know more get more.
  expect(String(await curl(relay.caFile, '--tlsv1.3', site.url))).toBe('GET over an old version')
  await site.close()
})

test('a site in a page', async ({ relay, tenant }) => {
  const address = await tenant.evaluate(async (relayUrl) => {
    const fetch = (): Response => new Response('hello from a page')
    const tls = { minVersion: 'TLSv1.2' } as const
    return (await svc.publish({ relay: relayUrl, name: 'old-page', fetch, tls })).url
  }, relay.url)
  expect(String(await curl(relay.caFile, ...TLS12, address))).toBe('hello from a page\n2 0')
})

test('a site that did not ask for it', async ({ relay, tenant }) => {
  const address = await tenant.evaluate(async (relayUrl) => {
    return (await svc.publish({ relay: relayUrl, name: 'new-only', fetch: () => new Response('hi') })).url
  }, relay.url)
  await expect(curl(relay.caFile, ...TLS12, address)).rejects.toThrow(/protocol version/)
})
