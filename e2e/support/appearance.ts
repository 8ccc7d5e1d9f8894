// What the specs of the pages' looks share: `test` with a relay of its own for each test, and `looks`, which runs at night.
import { readFile } from 'node:fs/promises'
import type { BrowserContext, BrowserContextOptions, Page, TestType } from '@playwright/test'
import { publish, type Site } from '@svc/sdk-node'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'
import { wholeOnly } from '../../tools/test-depth.ts'
import { test as base } from '../fixtures.ts'
import { whyNotComparable } from './baselines.ts'

export const ADMIN_TOKEN = 'a-long-random-value'
/** Milliseconds for a test. They end what hangs. */
const TIMEOUT_MS: number = 10 * 60_000
/** Published in this order, each with an identity of its own that stays the same. */
export const NAMES: readonly string[] = [
  'tea',
  'a-rather-long-name-too',
  'notes',
  'webhooks',
  'a-name-of-22-characters'.slice(0, 22),
]
/** The same reader on each machine. */
export const READER: BrowserContextOptions = { locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' }

interface AppearanceFixtures {
  context: BrowserContext
  page: Page
  /** Skips where the pictures cannot be compared. */
  comparable: undefined
}

type AppearanceTest =
  typeof base extends TestType<infer T, infer W> ? TestType<T & AppearanceFixtures, W> : never

export const test: AppearanceTest = base.extend<AppearanceFixtures>({
  comparable: [
    async ({ browser }, use, info) => {
      const why = whyNotComparable(browser, info)
      info.skip(why !== undefined, why)
      // Pictures of many states, on a machine that may be several times slower than another.
      info.setTimeout(TIMEOUT_MS)
      await use(undefined)
    },
    { auto: true },
  ],
  // Each test has a relay of its own, on which nothing has happened.
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  relay: async ({}, use) => {
    const relay = await startTestRelay({
      env: { ADMIN_TOKEN, DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' },
    })
    await use(relay)
    await relay.stop()
  },
  context: async ({ browser }, use) => {
    const context = await browser.newContext(READER)
    await use(context)
    await context.close()
  },
  page: async ({ context }, use) => use(await context.newPage()),
})

export const looks: AppearanceTest = wholeOnly(test, 'appearance')

/** Publishes listed sites, whose owners say as much of them as their names are long. */
export async function publishSites({ url, caFile }: TestRelay, names: readonly string[]): Promise<Site[]> {
  const ca = await readFile(caFile, 'utf8')
  const sites: Site[] = []
  for (const name of names) {
    const identity = new Uint8Array(32).fill(NAMES.indexOf(name) + 1)
    const metadata = {
      description:
        name.length > 20 ? 'A description that is longer than a line of a phone. '.repeat(4) : 'About it',
      owner: 'Ada',
      tags: ['drinks', name.slice(0, 5)],
    }
    const options = { relay: url, name, ca, identity, listed: true, metadata }
    sites.push(await publish({ ...options, fetch: () => new Response('here') }))
  }
  return sites
}

export async function closeAll(sites: readonly Site[]): Promise<void> {
  await Promise.all(sites.map((site) => site.close()))
}
