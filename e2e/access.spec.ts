// Visitors sign in with a password, and come by a share link, in a browser: the page, its script, and what the site keeps to itself.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ExposeOptions, type Exposure, expose } from '@svc/sdk-node'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './support/example-page.ts'

const PHONE = { width: 360, height: 740 }

async function withSite(
  relay: { url: string; caFile: string },
  use: (exposure: Exposure, seen: (string | undefined)[]) => Promise<void>,
  options: Partial<ExposeOptions> = { access: { password: 'open sesame' } },
): Promise<void> {
  const seen: (string | undefined)[] = []
  const server = createServer(({ headers }, response) => {
    seen.push(headers.cookie, headers.authorization)
    response.setHeader('Content-Type', 'text/html')
    response.end('<h1>Inside</h1>')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const exposure = await expose({
    relay: relay.url,
    ca: await readFile(relay.caFile, 'utf8'),
    name: 'access',
    identity: new Uint8Array(32).fill(11),
    http: (server.address() as AddressInfo).port,
    ...options,
  })
  try {
    await use(exposure, seen)
  } finally {
    await exposure.close()
    server.close()
  }
}

test('a password lets in, a wrong one does not, and the page fits a phone', async ({ relay, visitor }) => {
  await withSite(relay, async ({ sites }, seen) => {
    const { url } = sites[0]!
    await visitor.setViewportSize(PHONE)
    await visitor.goto(`${url}/inside?a=b`)
    await expectAccessible(visitor)
    expect(await visitor.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      PHONE.width,
    )
    const password = visitor.getByLabel('Password')
    await password.fill('open barley')
    await password.press('Enter')
    await expect(visitor.getByRole('alert')).toContainText('That is not right')
    expect(seen).toEqual([])
    await password.fill('open sesame')
    await password.press('Enter')
    await expect(visitor.locator('h1')).toHaveText('Inside')
    expect(visitor.url()).toBe(`${url}/inside?a=b`)
    // Neither the cookie of the site's own sign-in nor a password comes to the server behind.
    expect(new Set(seen)).toEqual(new Set([undefined]))
    expect(await visitor.evaluate(() => document.cookie)).toBe('')
  })
})

test('a share link lets in once, and leaves no secret in the address', async ({
  relay,
  visitor,
  browser,
}) => {
  await withSite(relay, async ({ sites }) => {
    const site = sites[0]!
    const link = await site.share!({ once: true })
    await visitor.goto(link.url)
    await expect(visitor.locator('h1')).toHaveText('Inside')
    expect(visitor.url()).toBe(`${site.url}/`)
    await visitor.reload()
    await expect(visitor.locator('h1')).toHaveText('Inside')
    const other = await (await browser.newContext()).newPage()
    await other.goto(link.url)
    await expect(other.getByLabel('Password')).toBeVisible()
    await expect(other.locator('h1')).not.toHaveText('Inside')
    await other.context().close()
  })
})

test('a page of an allowed origin calls an API behind a token, and reads why it is refused', async ({
  relay,
  visitor,
}) => {
  const app = createServer((_, response) => response.end('the app'))
  await once(app.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
  const bearer = 'a-token-that-nobody-can-guess'
  const use = async ({ sites }: Exposure, seen: (string | undefined)[]): Promise<void> => {
    await visitor.goto(origin)
    const call = (path: string, token: string): Promise<string> =>
      visitor.evaluate(
        async ([url = '', given]) => {
          const headers = { Authorization: `Bearer ${given}` }
          const answer = await fetch(url, { method: 'PUT', headers }).catch(() => undefined)
          return answer ? `${answer.status} ${await answer.text()}` : 'nothing'
        },
        [sites[0]!.url + path, token],
      )
    expect(await call('/api/x', bearer)).toBe('200 <h1>Inside</h1>')
    expect(seen).toEqual([undefined, undefined])
    expect(await call('/api/x', 'a-token-that-is-wrong')).toContain(
      '401 This site is for visitors who sign in',
    )
    expect(await call('/private', bearer)).toBe('nothing')
    expect(seen).toHaveLength(2)
  }
  const rules = { cors: { path: '/api/*', origins: [origin] } }
  await withSite(relay, use, { access: { bearer }, rules }).finally(() => app.close())
})
