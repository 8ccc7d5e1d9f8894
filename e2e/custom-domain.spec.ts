// A page with a domain of its owner: it orders the certificate itself, across origins, from an authority with the fields of Let's Encrypt,
// and curl, which trusts that authority alone, visits.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import type { AcmeOptions, Site, SiteDomain } from '@svc/sdk-browser'
import { type DnsServer, startDnsServer } from '../tools/dns/dns-server.ts'
import { type AcmeFront, startAcmeFront } from '../tools/network/acme-front.ts'
import { freePort } from '../tools/network/free-port.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../tools/programs/pebble.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect, openTenant, useBrowser } from './fixtures.ts'

const DOMAIN = 'shop.example.test'
const run = promisify(execFile)

interface World {
  acme: AcmeServer
  front: AcmeFront
  dns: DnsServer
  /** The authority comes to the first one. */
  relay: TestRelay
  other: TestRelay
  port: number
  folder: string
}

const test = base.extend<object, { world: World }>({
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const [port, folder] = [await freePort(), await mkdtemp(path.join(tmpdir(), 'svc-domain-'))]
      const [dns, acme] = [await startDnsServer(), await startAcmeServer({ tlsPort: port, hosts: [DOMAIN] })]
      const front = await startAcmeFront(acme, dns)
      const env = { CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` }
      const [relay, other] = await Promise.all([startTestRelay({ port, env }), startTestRelay({ env })])
      await writeFile(path.join(folder, 'front.pem'), front.ca)
      await writeFile(path.join(folder, 'root.pem'), await acme.root())
      await use({ acme, front, dns, relay, other, port, folder })
      await Promise.all([relay.stop(), other.stop()])
      await Promise.all([front.close(), acme.close(), dns.close()])
      await rm(folder, { recursive: true })
    },
    { scope: 'worker' },
  ],
  browser: [
    ({ playwright, world: { relay, other, folder } }, use) =>
      useBrowser(playwright, [relay.caFile, other.caFile, path.join(folder, 'front.pem')], use),
    { scope: 'worker' },
  ],
})

test.skip(!hasAcmeServer(), 'pebble and unbound need apt')

interface Published {
  page: Page
  domain(): Promise<SiteDomain>
}

/** Publishes a site with the domain in a page. */
async function publish(page: Page, relay: string, directory: string, acme: object = {}): Promise<Published> {
  await page.evaluate(
    async ([relay, domain, acme]) => {
      const site = await svc.publish({
        relay,
        fetch: () => new Response('hello from the page'),
        domains: [domain],
        acme: acme as AcmeOptions,
      })
      Object.assign(globalThis, { site })
    },
    [relay, DOMAIN, { agreeTerms: true, directory, ...acme }] as const,
  )
  const domain = (): Promise<SiteDomain> =>
    page.evaluate(() => (globalThis as unknown as { site: Site }).site.domains![0]!)
  return { page, domain }
}

/** Does what the owner of the domain has to do. An alias would be in place of the addresses. */
async function setRecords({ domain }: Published, { records }: DnsServer): Promise<void> {
  await expect.poll(async () => (await domain()).dns.records.length).toBeGreaterThan(1)
  for (const { type, name, value } of (await domain()).dns.records)
    if (type !== 'CNAME') records.set(`${name} ${type}`, [value])
}

async function visit(folder: string, port: number, ...more: string[]): Promise<string> {
  const resolve = ['--resolve', `${DOMAIN}:${port}:127.0.0.1`]
  const args = ['--silent', '--show-error', '--cacert', path.join(folder, 'root.pem'), ...resolve, ...more]
  return (await run('curl', [...args, `https://${DOMAIN}:${port}/`])).stdout
}

test('a page gets a certificate for its domain, and keeps it when it is loaded again', async ({
  world: { relay, front, dns, port, folder },
  browser,
  pageServer,
}) => {
  const tenant = await openTenant(await browser.newContext(), pageServer)
  const first = await publish(tenant, relay.url, front.directoryUrl)
  await setRecords(first, dns)
  await expect
    .poll(async () => (await first.domain()).certificate, { timeout: 60_000 })
    .toMatchObject({ state: 'valid', error: undefined })
  expect(await visit(folder, port, '--write-out', ' %{http_version}')).toBe('hello from the page 2')
  const { expiresAt } = (await first.domain()).certificate
  await tenant.reload()
  const orders = front.orders
  const again = await publish(tenant, relay.url, front.directoryUrl)
  await expect.poll(async () => (await again.domain()).online, { timeout: 60_000 }).toBe(true)
  expect((await again.domain()).certificate.expiresAt).toBe(expiresAt)
  expect(await visit(folder, port)).toBe('hello from the page')
  expect(front.orders).toBe(orders)
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
  await tenant.context().close()
})

test('a domain with the records that the page names is protected, and says so', async ({
  world: { relay, front, dns },
  browser,
  pageServer,
}) => {
  const tenant = await openTenant(await browser.newContext(), pageServer)
  const acme = { dnsOverHttps: front.dnsUrl }
  const before = await publish(tenant, relay.url, front.directoryUrl, acme)
  await setRecords(before, dns)
  await expect.poll(async () => (await before.domain()).online, { timeout: 60_000 }).toBe(true)
  await expect
    .poll(async () => (await before.domain()).unprotected)
    .toBe(`${DOMAIN} has no CAA record: any authority may issue for it`)
  const { records } = (await before.domain()).dns
  expect(records.map(({ type }) => type)).toEqual(['TXT', 'A', 'AAAA', 'CNAME', 'CAA'])
  await setRecords(before, dns)
  await tenant.reload()
  const after = await publish(tenant, relay.url, front.directoryUrl, acme)
  await expect.poll(async () => (await after.domain()).protected).toBe(true)
  // The domain is now an alias of the relay's hostname: the relay's own zone has its CAA records.
  dns.onQuestion = ({ type }) =>
    type === 'CAA' || type === 'CNAME' ? { cname: new URL(relay.url).hostname } : undefined
  await tenant.reload()
  const alias = await publish(tenant, relay.url, front.directoryUrl, acme)
  await expect.poll(async () => (await alias.domain()).unprotected).toMatch(/is an alias \(CNAME\)/)
  dns.onQuestion = undefined
  await tenant.context().close()
})

wholeOnly(test, 'variant')(
  'two tabs with one domain order one certificate',
  async ({ world: { relay, other, front, dns, port, folder }, browser, pageServer }) => {
    const context = await browser.newContext()
    const orders = front.orders
    const tabs: Published[] = []
    for (const url of [relay.url, other.url])
      tabs.push(await publish(await openTenant(context, pageServer), url, front.directoryUrl))
    await setRecords(tabs[0]!, dns)
    for (const { domain } of tabs)
      await expect.poll(async () => (await domain()).online, { timeout: 60_000 }).toBe(true)
    const [one, two] = await Promise.all(tabs.map(({ domain }) => domain()))
    expect(two!.certificate.expiresAt).toBe(one!.certificate.expiresAt)
    expect(front.orders - orders).toBe(1)
    expect(await visit(folder, port)).toBe('hello from the page')
    await context.close()
  },
)
