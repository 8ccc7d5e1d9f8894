// A page at relays whose certificates come from pebble, a real ACME server: first HTTP/1.1 with the relay's wildcard, then
// HTTP/2 with a certificate of the page's own, and no visitor is lost; without a wildcard the page waits for its own.

import type { Browser, Page } from '@playwright/test'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import {
  ACME_HOST,
  type AcmeRelay,
  type AcmeRelayOptions,
  hasAcmeRelay,
  startAcmeRelay,
} from '../tools/relay/acme-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, openTenant, test } from './fixtures.ts'
import type { PageServer } from './support/page-server.ts'

test.skip(!hasAcmeRelay(), 'pebble, unbound and bind9 need apt')

const RULES = `--host-resolver-rules=MAP ${ACME_HOST} 127.0.0.1, MAP *.${ACME_HOST} 127.0.0.1`

interface World {
  relay: AcmeRelay
  tenant: Page
  visitor(): Promise<Page>
}

/** Starts a relay, and a browser that trusts the ACME server's root and finds the relay. */
async function withRelay(
  launch: (options: object) => Promise<Browser>,
  pageServer: PageServer,
  options: AcmeRelayOptions,
  use: (world: World) => Promise<void>,
): Promise<void> {
  const relay = await startAcmeRelay(options)
  const home = await createHome(relay.caFile)
  const chromium = chromiumOptions(home.path)
  const browser = await launch({ ...chromium, args: [...(chromium.args ?? []), RULES] })
  try {
    const tenant = await openTenant(await browser.newContext(), pageServer)
    await use({ relay, tenant, visitor: async () => (await browser.newContext()).newPage() })
  } finally {
    await browser.close()
    await home.remove()
    await relay.close()
  }
}

/** The version of HTTP by which a page came. */
function protocolOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation')
    return (navigation as PerformanceNavigationTiming).nextHopProtocol
  })
}

wholeOnly(test, 'variant')(
  'a page goes from HTTP/1.1 to HTTP/2, and no visitor is lost',
  async ({ playwright, pageServer }) => {
    const launch = playwright.chromium.launch.bind(playwright.chromium)
    const options: AcmeRelayOptions = {
      challenge: 'dns-01',
      holdsSites: true,
      env: { SITE_CERTIFICATES: 'all' },
    }
    await withRelay(launch, pageServer, options, async ({ relay, tenant, visitor }) => {
      const url = await tenant.evaluate(async (relay) => {
        const own = Promise.withResolvers<void>()
        const site = await svc.publish({
          relay,
          name: 'acme-wild',
          fetch: () => new Response('<p>hello', { headers: { 'Content-Type': 'text/html' } }),
          debug: ({ type }) => type === 'certificate' && own.resolve(),
        })
        Object.assign(globalThis, { own: own.promise })
        return site.url
      }, relay.url)
      const first = await visitor()
      await first.goto(url)
      expect(await protocolOf(first)).toBe('http/1.1')
      // This visitor stays, and asks on and on.
      await first.evaluate(() => {
        const counts = { answers: 0, failures: 0, isOver: false }
        const asking = (async () => {
          while (!counts.isOver) {
            const isGood = await fetch('/', { cache: 'no-store' }).then(
              ({ ok }) => ok,
              () => false,
            )
            counts[isGood ? 'answers' : 'failures'] += 1
            await new Promise((resolve) => setTimeout(resolve, 10))
          }
          return counts
        })()
        Object.assign(globalThis, { counts, asking })
      })
      await relay.releaseSites()
      await tenant.evaluate(() => (globalThis as unknown as { own: Promise<void> }).own)
      const second = await visitor()
      await second.goto(url)
      await expect(second.getByText('hello')).toBeVisible()
      expect(await protocolOf(second)).toBe('h2')
      const counts = await first.evaluate(() => {
        const { counts, asking } = globalThis as unknown as {
          counts: { isOver: boolean }
          asking: Promise<{ answers: number; failures: number }>
        }
        counts.isOver = true
        return asking
      })
      expect(counts.failures).toBe(0)
      expect(counts.answers).toBeGreaterThan(0)
    })
  },
)

test('a page waits for its own certificate where there is no wildcard, and a reload needs no other', async ({
  playwright,
  pageServer,
}) => {
  const launch = playwright.chromium.launch.bind(playwright.chromium)
  await withRelay(launch, pageServer, { challenge: 'tls-alpn-01' }, async ({ relay, tenant, visitor }) => {
    const publish = (): Promise<{ url: string; states: string[] }> =>
      tenant.evaluate(async (relay) => {
        const states: string[] = []
        const site = await svc.publish({
          relay,
          name: 'acme-own',
          fetch: () => new Response('<p>hello', { headers: { 'Content-Type': 'text/html' } }),
          onSite: (made) =>
            made.addEventListener('statechange', () => states.push(made.waiting?.reason ?? made.state)),
        })
        return { url: site.url, states }
      }, relay.url)
    const { url, states } = await publish()
    expect(states).toEqual(['certificate', 'online'])
    const one = await visitor()
    await one.goto(url)
    expect(await protocolOf(one)).toBe('h2')
    const issued = (): number =>
      relay.log.filter(({ msg }) => msg === 'a site has a certificate of its own').length
    expect(issued()).toBe(1)
    await tenant.reload()
    expect((await publish()).states.at(-1)).toBe('online')
    expect(issued()).toBe(1)
  })
})

wholeOnly(test, 'variant')(
  'the landing page of such a relay publishes, and says first when an address cannot stay secret',
  async ({ playwright, pageServer }) => {
    const launch = playwright.chromium.launch.bind(playwright.chromium)
    await withRelay(launch, pageServer, { challenge: 'tls-alpn-01' }, async ({ relay, visitor }) => {
      const page = await visitor()
      await page.goto(relay.url)
      const publish = page.getByRole('button', { name: 'Publish' })
      const state = page.locator('.publish .state')
      await publish.click()
      await expect(state).toHaveText('online')
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('radio', { name: 'Webhooks' }).check()
      await publish.click()
      await expect(page.locator('.publish > .error')).toContainText('anyone who reads them finds the address')
      await publish.click()
      await expect(state).toHaveText('online')
    })
  },
)
