// The lists of sites and relays, and the pages of the certificate, look as in their pictures: `npm run e2e -- appearance --update`.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { DiscoveryResponse, RelayDescriptor } from '@svc/protocol'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { curl } from '../tools/programs/curl.ts'
import { expect } from './fixtures.ts'
import { closeAll, looks, NAMES, publishSites } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'

looks('sites: none, one, many, none of a search, without the relay', async ({ page, relay }) => {
  await page.goto(`${relay.url}/sites`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sites')
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'sites-empty')
  const sites = await publishSites(relay, NAMES.slice(0, 1))
  await page.reload()
  await expect(page.getByRole('listitem').filter({ hasText: 'tea.' })).toBeVisible()
  await expectLook(page, 'sites-one')
  sites.push(...(await publishSites(relay, NAMES.slice(1))))
  await page.reload()
  await expect(page.locator('.site')).toHaveCount(NAMES.length)
  await expectLook(page, 'sites-many')
  await page.getByRole('searchbox').fill('nothing like it')
  await expect(page.locator('.site')).toHaveCount(0)
  await expectLook(page, 'sites-none-found')
  await page.getByRole('searchbox').fill('')
  await page.route('**/api/**', (route) => route.abort())
  await page.route('**/sites.json', (route) => route.abort())
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await expect(page.getByRole('alert').filter({ hasText: /./ })).toBeVisible()
  await expectLook(page, 'sites-unreachable')
  await closeAll(sites)
})

looks('relays: one, and some that do not answer', async ({ page, relay }) => {
  const { data }: { data: DiscoveryResponse } = JSON.parse(
    String(await curl(relay.caFile, `${relay.url}/discovery`)),
  )
  const [own] = data.relays as [RelayDescriptor]
  await page.goto(`${relay.url}/relays`)
  await expect(page.getByRole('list', { name: 'Relays' }).getByRole('listitem')).toHaveCount(1)
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'relays-one')
  // Nobody listens there.
  const away = [1, 2].map((port) => ({ ...own, api_https_addr: `https://127.0.0.1:${port}` }))
  await page.route('**/discovery', (route) =>
    route.fulfill({ json: { ok: true, data: { ...data, relays: [own, ...away] } } }),
  )
  await page.reload()
  await expect(page.getByText('does not answer')).toHaveCount(2)
  await expectLook(page, 'relays')
})

looks('the CA, what is not there', async ({ page, relay }) => {
  await page.goto(`${relay.url}/ca`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Trust this relay')
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'ca', { fullPage: true })
  await page.goto(`${relay.url}/nothing`)
  await expectLook(page, 'not-found')
})

looks('the page of `npm start`: before this browser trusts the relay', async ({ page }) => {
  const pages = await buildRelayPages()
  const json = {
    relay: 'https://relay.localhost:8443',
    secure: 'https://secure.example',
    plain: 'http://plain.example',
    file: '/home/you/.svc/ca.pem',
  }
  await page.route('https://secure.example/**', (route) => route.abort())
  await page.route('http://plain.example/**', (route) => route.fulfill({ body: 'here' }))
  await page.route('http://start.localhost/**', async (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname === '/start.json') return route.fulfill({ json })
    const file = path.join(pages, pathname === '/' ? 'start.html' : pathname)
    await route.fulfill({ body: await readFile(file), contentType: TYPES[path.extname(file)]! })
  })
  await page.goto('http://start.localhost/')
  await expect(page.locator('.trust')).toHaveAttribute('data-state', 'untrusted')
  await expectLook(page, 'start', { fullPage: true })
})

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
