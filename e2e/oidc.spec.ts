// Visitors sign in at an issuer of OpenID Connect: at a site that a page publishes, and at a server that `expose` does.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { expose } from '@svc/sdk-node'
import { type OidcIssuer, startOidcIssuer } from '../tools/oidc/issuer.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './support/example-page.ts'

const ACCOUNTS = {
  alice: { email: 'alice@example.org', email_verified: true, name: 'Alice' },
  bob: { email: 'bob@example.com', email_verified: true },
}
const NAMES = ['oidc-page', 'oidc-expose']

let issuer: OidcIssuer
test.beforeAll(async ({ relay }) => {
  const sites = NAMES.map((name) => `https://${name}.${new URL(relay.url).host}`)
  const uris = {
    redirectUris: sites.map((site) => `${site}/.svc/access/oidc/callback`),
    afterSignOut: sites.map((site) => `${site}/.svc/access`),
  }
  const clients = [
    { id: 'page', ...uris },
    { id: 'node', secret: 'a secret', ...uris },
  ]
  issuer = await startOidcIssuer(clients, ACCOUNTS)
})
test.afterAll(() => issuer.close())

test('a page’s site: a visitor signs in, its WebSocket ends with the sign-out, which also ends the session of the issuer', async ({
  relay,
  tenant,
  visitor,
}) => {
  const url = await publishWithIssuer(tenant, relay.url, issuer.url)
  await visitor.goto(`${url}/inside?a=b`)
  await visitor.getByRole('link', { name: 'alice' }).click()
  await expect(visitor.locator('h1')).toHaveText('You are Alice, alice, alice@example.org')
  expect(visitor.url()).toBe(`${url}/inside?a=b`)
  expect(await visitor.evaluate(() => document.cookie)).toBe('')
  const [cookie, ...others] = await visitor.context().cookies(url)
  expect([cookie!.name, others]).toEqual(['__Host-svc-access', []])

  const closed = await visitor.evaluateHandle(async () => {
    const socket = new WebSocket(location.origin.replace('https:', 'wss:'))
    const closed = new Promise<number>((resolve) => {
      socket.onclose = ({ code }) => resolve(code)
    })
    await new Promise((resolve) => {
      socket.onopen = resolve
    })
    return { closed }
  })
  const second = await visitor.context().newPage()
  await signOut(second, url)
  expect(await closed.evaluate(({ closed }) => closed)).toBe(1008)
  // Nobody is signed in again without being asked.
  await second.getByRole('link', { name: /^Sign in with/ }).click()
  await second.getByRole('link', { name: 'bob' }).click()
  await expect(second.getByRole('alert')).toContainText('You are signed in as bob@example.com, and not among')
  await expectAccessible(second)
  expect(await visitor.context().cookies(url)).toEqual([])
})

wholeOnly(test, 'variant')(
  'expose: the server behind learns who the visitor is',
  async ({ relay, visitor }) => {
    const server = createServer(({ headers }, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(`<h1>You are ${headers['x-svc-user']}, ${headers['x-svc-email']}</h1>`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const exposure = await expose({
      relay: relay.url,
      ca: await readFile(relay.caFile, 'utf8'),
      name: 'oidc-expose',
      identity: new Uint8Array(32).fill(9),
      http: (server.address() as AddressInfo).port,
      access: {
        oidc: { issuer: issuer.url, clientId: 'node', clientSecret: 'a secret', allow: ['@example.org'] },
      },
    })
    try {
      const { url } = exposure.sites[0]!
      await visitor.goto(`${url}/some/page`)
      await visitor.getByRole('link', { name: 'alice' }).click()
      await expect(visitor.locator('h1')).toHaveText('You are alice, alice@example.org')
      expect(visitor.url()).toBe(`${url}/some/page`)
      await signOut(visitor, url)
      expect(await visitor.context().cookies(url)).toEqual([])
      // A share link leads past the issuer, which gets no fragment of the site's pages either.
      await visitor.goto(`${url}/some/page#svc-share=not-for-the-issuer`)
      await expect(visitor.getByRole('link', { name: 'alice' })).toBeVisible()
      expect(await visitor.evaluate(() => location.hash)).toBe('')
      const link = await exposure.sites[0]!.share!({ path: '/some/page' })
      await visitor.goto(link.url)
      await expect(visitor.locator('h1')).toHaveText('You are undefined, undefined')
      expect(visitor.url()).toBe(`${url}/some/page`)
    } finally {
      await exposure.close()
      server.close()
    }
  },
)

/** Signs out of the site, and agrees to sign out of the issuer, which leads back. */
async function signOut(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/.svc/access`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: /^Yes/ }).click()
  await expect(page).toHaveURL(`${url}/.svc/access`)
  await expect(page.getByRole('link', { name: /^Sign in with 127.0.0.1/ })).toBeVisible()
  await expectAccessible(page)
}

function publishWithIssuer(tenant: Page, relay: string, issuer: string): Promise<string> {
  return tenant.evaluate(
    async ({ relay, issuer }) => {
      const { url } = await svc.publish({
        relay,
        name: 'oidc-page',
        access: { oidc: { issuer, clientId: 'page', allow: ['alice@example.org'] } },
        fetch: (request, info) => {
          if (request.headers.has('upgrade')) return info.upgrade(request).response
          const { name, subject, email } = info.user!
          const html = `<!doctype html><title>Inside</title><link rel="icon" href="data:,"><h1>You are ${name}, ${subject}, ${email}</h1>`
          return new Response(html, { headers: { 'Content-Type': 'text/html' } })
        },
      })
      return url
    },
    { relay, issuer },
  )
}
