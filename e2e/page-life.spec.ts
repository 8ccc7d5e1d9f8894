// A page that is left and comes back from the back/forward cache: unregistered meanwhile, and published again.

import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { curl } from '../tools/programs/curl.ts'
import { test as base, expect, openTenant } from './fixtures.ts'

base('the back/forward cache', async ({ relay, pageServer, playwright }) => {
  const home = await createHome(relay.caFile)
  const browser = await playwright.chromium.launch({
    ...chromiumOptions(home.path),
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  try {
    const page = await openTenant(await browser.newContext(), pageServer)
    const url = await page.evaluate(async (relayUrl) => {
      const site = await svc.publish({
        relay: relayUrl,
        name: 'cached',
        fetch: () => new Response('still me'),
      })
      Object.assign(globalThis, { site })
      return site.url
    }, relay.url)
    expect(String(await curl(relay.caFile, url))).toBe('still me')

    await page.goto(`${pageServer.url}contexts.html`)
    // The page does not wait until the relay knows.
    await expect.poll(() => curl(relay.caFile, url).then(String, String)).toMatch(/curl: \((35|56)\)/)

    // Playwright loses sight of a page that comes back from the cache: a visitor finds out.
    page.evaluate(() => history.back()).catch(() => {})
    await expect(async () => expect(String(await curl(relay.caFile, url))).toBe('still me')).toPass()
  } finally {
    await browser.close()
    await home.remove()
  }
})
