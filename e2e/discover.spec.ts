// A page that is online at several real relays, and moves when one of them is killed.
import type { BrowserContext, Page } from '@playwright/test'
import type { Site } from '@svc/sdk-browser'
import { curl } from '../tools/programs/curl.ts'
import { startRelayGroup } from '../tools/relay/relay-group.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { test as base, expect, openTenant, useBrowser } from './fixtures.ts'

const HOSTS = ['named.localhost', 'second.localhost', 'third.localhost', 'fourth.localhost']
/** Milliseconds within which a page is online at another relay, on a machine that has nothing else to do. */
const MOVED_MS = 5_000
/** Another machine, or one that runs the whole suite, is slower. */
const PATIENCE = 4

declare global {
  var site: Site
  var changes: { at: number; added: readonly string[]; removed: readonly string[] }[]
}

const test = base.extend<{ page: Page }, { group: TestRelay[] }>({
  group: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const group = await startRelayGroup(HOSTS)
      await use(group)
      for (const relay of group.toReversed()) await relay.stop()
    },
    { scope: 'worker' },
  ],
  relay: ({ group }, use) => use(group[0]!),
  browser: [
    ({ playwright, group }, use) =>
      useBrowser(
        playwright,
        group.map(({ caFile }) => caFile),
        use,
      ),
    { scope: 'worker' },
  ],
})

const urlsOf = (page: Page): Promise<readonly string[]> => page.evaluate(() => globalThis.site.urls)
const hostsOf = async (page: Page): Promise<string[]> =>
  (await urlsOf(page)).map((url) => new URL(url).hostname.split('.').slice(1).join('.'))

async function publishIn(page: Page, relay: string, options: object): Promise<void> {
  await page.evaluate(
    async ([relay, options]) => {
      globalThis.changes = []
      globalThis.site = await globalThis.svc.publish({
        relay,
        name: 'resettling',
        fetch: () => new Response('here'),
        onSite: (site) =>
          site.addEventListener('urlschange', ({ detail }) =>
            globalThis.changes.push({ at: Date.now(), ...detail }),
          ),
        ...options,
      })
    },
    [relay, options] as const,
  )
}

/** A visitor who trusts the relay of the URL gets the site's answer. */
async function visit(group: readonly TestRelay[], url: string): Promise<string> {
  const { caFile } = group.find((relay) => url.endsWith(new URL(relay.url).host))!
  return String(await curl(caFile, `${url}/`))
}

async function known(group: readonly TestRelay[]): Promise<void> {
  const list = async (): Promise<number> =>
    JSON.parse(String(await curl(group[0]!.caFile, `${group[0]!.url}/discovery`))).data.relays.length
  await expect(async () => expect(await list()).toBe(HOSTS.length)).toPass()
}

async function tenantOf(context: BrowserContext, pageServer: { url: string }): Promise<Page> {
  return await openTenant(context, { ...pageServer, close: async () => {} })
}

test('a page with discover: 2 is at three relays, and within five seconds at another one when one is killed', async ({
  browser,
  pageServer,
  group,
}) => {
  await known(group)
  const context = await browser.newContext()
  const page = await tenantOf(context, pageServer)
  await publishIn(page, group[0]!.url, { discover: 2 })
  expect(await page.evaluate(() => globalThis.site.state)).toBe('online')
  await expect.poll(async () => (await urlsOf(page)).length).toBe(3)
  const urls = await urlsOf(page)
  expect(urls[0]).toBe(await page.evaluate(() => globalThis.site.url))
  expect(new URL(urls[0]!).host).toBe(`resettling.${new URL(group[0]!.url).host}`)
  for (const url of urls) expect(await visit(group, url)).toBe('here')

  const before = await hostsOf(page)
  const killed = group.find((relay, at) => at > 0 && before.includes(new URL(relay.url).hostname))!
  const spare = HOSTS.find((host) => !before.includes(host))!
  const { hostname } = new URL(killed.url)
  const killedAt = Date.now()
  process.kill(killed.pid, 'SIGKILL')
  const added = async (): Promise<number | undefined> =>
    (await page.evaluate(() => globalThis.changes)).find(({ added }) =>
      added.some((url) => url.includes(spare)),
    )?.at
  await expect.poll(added, { timeout: MOVED_MS * PATIENCE }).toBeDefined()
  console.log(`online at another relay ${(await added())! - killedAt} ms after the kill`)
  await expect
    .poll(async () => (await hostsOf(page)).toSorted())
    .toEqual(HOSTS.filter((host) => host !== hostname).toSorted())
  const after = await urlsOf(page)
  expect(await visit(group, after.find((url) => url.includes(spare))!)).toBe('here')

  // The relay that the page named is killed: the site stays online at the others, and keeps its URL.
  process.kill(group[0]!.pid, 'SIGKILL')
  await expect.poll(() => hostsOf(page)).not.toContain(HOSTS[0])
  expect(await page.evaluate(() => [globalThis.site.state, globalThis.site.url])).toEqual(['online', urls[0]])
  for (const url of await urlsOf(page)) expect(await visit(group, url)).toBe('here')
  await page.evaluate(() => globalThis.site.close())
  expect(await urlsOf(page)).toEqual([])
  await context.close()
})
