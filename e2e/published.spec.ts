// A page publishes a handler, and clients that are not ours get its answer over TLS that they verify.

import type { Site } from '@svc/sdk-browser'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

test('curl gets the answer of the handler in the page', async ({ relay, tenant }) => {
  const site = await tenant.evaluate(async (relayUrl) => {
    const { url, canonicalUrl, state } = await svc.publish({
      relay: relayUrl,
      name: 'curl',
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const said = [request.method, pathname + search, request.headers.get('X-Asked'), await request.text()]
        return new Response(JSON.stringify(said), { status: 201, headers: { 'X-From': document.title } })
      },
    })
    return { url, canonicalUrl, state }
  }, relay.url)
  expect(site.state).toBe('online')
  expect(site.url).toBe(relay.url.replace('relay.', 'curl.relay.'))
  expect(site.canonicalUrl).toMatch(/^https:\/\/curl-[0-9a-f]{40}\.relay\.localhost:\d+$/)

  for (const base of [site.url, site.canonicalUrl]) {
    const args = ['--include', '--header', 'X-Asked: why', '--data', 'a body', `${base}/a/path?and=query`]
    const [head, body] = String(await curl(relay.caFile, ...args)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/(?:1\.1|2) 201 /)
    expect(head?.toLowerCase()).toContain('x-from: tenant')
    expect(JSON.parse(body ?? '')).toEqual(['POST', '/a/path?and=query', 'why', 'a body'])
  }
})

test('a browser gets it too, without a warning', async ({ relay, tenant, visitor }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    const html = { 'Content-Type': 'text/html' }
    const fetch = (): Response => new Response('<title>Mine</title><h1>From the page</h1>', { headers: html })
    return (await svc.publish({ relay: relayUrl, name: 'browser', fetch })).url
  }, relay.url)
  const response = await visitor.goto(url)
  expect(response?.status()).toBe(200)
  await expect(visitor).toHaveTitle('Mine')
  await expect(visitor.getByRole('heading')).toHaveText('From the page')
  expect(await visitor.evaluate(() => isSecureContext)).toBe(true)
  expect((await response?.securityDetails())?.protocol).toBe('TLS 1.3')
})

test('a browser that does not trust the CA refuses the site', async ({ relay, tenant, playwright }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    return (await svc.publish({ relay: relayUrl, name: 'untrusted', fetch: () => new Response('hi') })).url
  }, relay.url)
  expect(String(await curl(relay.caFile, url))).toBe('hi')
  const home = await createHome(undefined)
  const stranger = await playwright.chromium.launch(chromiumOptions(home.path))
  const page = await stranger.newPage()
  await expect(page.goto(url)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID')
  await stranger.close()
  await home.remove()
})

wholeOnly(test, 'variant')('a closed site is gone, and the others stay', async ({ relay, tenant }) => {
  const urls = await tenant.evaluate(async (relayUrl) => {
    const options = { relay: relayUrl, fetch: (): Response => new Response('here') }
    const closed = await svc.publish({ ...options, name: 'closed' })
    const open = await svc.publish({ ...options, name: 'open' })
    await closed.close()
    return { closed: closed.url, open: open.url, state: closed.state }
  }, relay.url)
  expect(urls.state).toBe('closed')
  await expect(curl(relay.caFile, urls.closed)).rejects.toThrow(/curl: \((35|56)\)/)
  expect(String(await curl(relay.caFile, urls.open))).toBe('here')
})

wholeOnly(test, 'variant')(
  'of two that publish at once in a page, one serves, and the other gets lease_replaced',
  async ({ relay, tenant }) => {
    const outcomes = await tenant.evaluate(async (relay) => {
      const publish = (name: string): Promise<Site> =>
        svc.publish({ relay, name, fetch: () => new Response('hello') })
      // The loser may have been online for a moment: then its site says so.
      const endOf = (site: Site): Promise<string> =>
        new Promise((resolve) =>
          site.addEventListener('error', ({ error }) => site.state === 'closed' && resolve(error.code)),
        )
      const rounds: string[][] = []
      for (let round = 0; round < 10; round++) {
        const both = [publish(`twice-${round}`), publish(`twice-${round}`)]
        const end = await Promise.race(
          both.map((one) => one.then(endOf, ({ code }: { code: string }) => code)),
        )
        const settled = await Promise.allSettled(both)
        const sites = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
        const open = sites.filter(({ state }) => state !== 'closed')
        rounds.push([end, ...open.map(({ state }) => state)])
        await Promise.all(open.map((site) => site.close()))
      }
      return rounds
    }, relay.url)
    expect(outcomes).toEqual(Array.from({ length: 10 }, () => ['lease_replaced', 'online']))
  },
)
