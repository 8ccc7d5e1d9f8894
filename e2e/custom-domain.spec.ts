// A page with a domain of its owner: it orders the certificate itself, across origins, from an authority with the fields of Let's Encrypt,
// and curl, which trusts that authority alone, visits.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { type DnsServer, startDnsServer } from '../tools/dns/dns-server.ts'
import { type AcmeFront, startAcmeFront } from '../tools/network/acme-front.ts'
import { freePort } from '../tools/network/free-port.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../tools/programs/pebble.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { test as base, expect, openTenant, useBrowser } from './fixtures.ts'

const DOMAIN = 'shop.example.test'
const run = promisify(execFile)

interface World {
  acme: AcmeServer
  front: AcmeFront
  dns: DnsServer
  relay: TestRelay
  port: number
  folder: string
}

const test = base.extend<object, { world: World }>({
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const [port, folder] = [await freePort(), await mkdtemp(path.join(tmpdir(), 'svc-domain-'))]
      const [dns, acme] = [await startDnsServer(), await startAcmeServer({ tlsPort: port, hosts: [DOMAIN] })]
      const front = await startAcmeFront(acme)
      const env = { CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` }
      const relay = await startTestRelay({ port, env })
      await writeFile(path.join(folder, 'front.pem'), front.ca)
      await writeFile(path.join(folder, 'root.pem'), await acme.root())
      await use({ acme, front, dns, relay, port, folder })
      await relay.stop()
      await Promise.all([front.close(), acme.close(), dns.close()])
      await rm(folder, { recursive: true })
    },
    { scope: 'worker' },
  ],
  browser: [
    ({ playwright, world: { relay, folder } }, use) =>
      useBrowser(playwright, [relay.caFile, path.join(folder, 'front.pem')], use),
    { scope: 'worker' },
  ],
})

test.skip(!hasAcmeServer(), 'pebble and unbound need apt')

test('a page gets a certificate for its domain, and keeps it when it is loaded again', async ({
  world: { relay, front, dns, port, folder },
  browser,
  pageServer,
}) => {
  const tenant = await openTenant(await browser.newContext(), pageServer)
  const publish = (): Promise<void> =>
    tenant.evaluate(
      async ([relay, directory, domain]) => {
        const site = await svc.publish({
          relay: relay!,
          name: 'shop',
          fetch: () => new Response('hello from the page'),
          domains: [domain!],
          acme: { agreeTerms: true, directory: directory! },
        })
        Object.assign(globalThis, { site })
      },
      [relay.url, front.directoryUrl, DOMAIN],
    )
  const domain = (): Promise<import('@svc/sdk-browser').SiteDomain> =>
    tenant.evaluate(
      () => (globalThis as unknown as { site: import('@svc/sdk-browser').Site }).site.domains![0]!,
    )
  await publish()
  await expect.poll(async () => (await domain()).dns.records.length).toBeGreaterThan(1)
  for (const { type, name, value } of (await domain()).dns.records)
    dns.records.set(`${name} ${type}`, [value])
  await expect
    .poll(async () => (await domain()).certificate, { timeout: 60_000 })
    .toMatchObject({ state: 'valid', error: undefined })
  const visit = async (...more: string[]): Promise<string> => {
    const resolve = ['--resolve', `${DOMAIN}:${port}:127.0.0.1`]
    const args = ['--silent', '--show-error', '--cacert', path.join(folder, 'root.pem'), ...resolve, ...more]
    return (await run('curl', [...args, `https://${DOMAIN}:${port}/`])).stdout
  }
  expect(await visit('--write-out', ' %{http_version}')).toBe('hello from the page 2')
  const { expiresAt } = (await domain()).certificate
  await tenant.reload()
  const before = front.pebbleMs
  await publish()
  await expect.poll(async () => (await domain()).online, { timeout: 60_000 }).toBe(true)
  expect((await domain()).certificate.expiresAt).toBe(expiresAt)
  expect(await visit()).toBe('hello from the page')
  // No script of the origin can read a key.
  const keys = await tenant.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open('svc-domains')
      opening.onsuccess = () => resolve(opening.result)
    })
    const all = database.transaction('entry').objectStore('entry').getAll()
    await new Promise((resolve) => {
      all.onsuccess = resolve
    })
    return all.result.map(({ privateKey }) => privateKey.extractable)
  })
  expect(keys).toEqual([false, false])
  expect(front.pebbleMs - before).toBeLessThan(5_000)
})
