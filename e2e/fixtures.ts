// The fixtures of every spec: a relay, a Chromium that trusts its CA, a page that can publish, and a visitor.
import {
  type Browser,
  type BrowserContext,
  type BrowserType,
  test as base,
  type Page,
} from '@playwright/test'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { startFixtureRelay } from '../tools/relay/fixture-relay.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { FileScope, type OncePerFile } from './support/file-scope.ts'
import { type PageServer, servePages } from './support/page-server.ts'
import { suiteAuthorityFile } from './support/suite-authority.ts'

export { expect } from '@playwright/test'

interface WorkerFixtures {
  /** The relay of all files that need none with settings of their own. */
  plainRelay: TestRelay
  pageServer: PageServer
  fileScope: FileScope
}

interface TestFixtures {
  /** Another relay for a file is no fixture of the worker: that would start a worker and a browser for it. */
  relay: TestRelay
  oncePerFile: OncePerFile
  /** A page of another origin than the relay's, with `publish` as a global. */
  tenant: Page
  /** An empty page of another context: it shares nothing with the tenant but the CA that both trust. */
  visitor: Page
}

type RelayFixture = (
  needed: { oncePerFile: OncePerFile },
  use: (relay: TestRelay) => Promise<void>,
) => Promise<void>

/**
 * The fixture `relay` with settings of its own, for `test.extend`.
 * @param env the settings, by their names in the environment
 */
export function relayWith(env: Record<string, string>): RelayFixture {
  return async ({ oncePerFile }, use) => use(await oncePerFile('relay', () => startFixtureRelay(env)))
}

/** The fixture `browser`: a Chromium that trusts these CAs. */
export async function useBrowser(
  { chromium }: { chromium: BrowserType },
  caFiles: string[],
  use: (browser: Browser) => Promise<void>,
): Promise<void> {
  const home = await createHome(...caFiles)
  const browser = await chromium.launch(chromiumOptions(home.path))
  await use(browser)
  await browser.close()
  await home.remove()
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  plainRelay: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const relay = await startFixtureRelay()
      await use(relay)
      await relay.stop()
    },
    { scope: 'worker' },
  ],
  relay: ({ plainRelay }, use) => use(plainRelay),
  fileScope: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const scope = new FileScope()
      await use(scope)
      await scope.end()
    },
    { scope: 'worker' },
  ],
  oncePerFile: [
    async ({ fileScope }, use, { file }) => {
      await fileScope.enter(file)
      await use((name, start) => fileScope.once(name, start))
    },
    { auto: true },
  ],
  pageServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const server = await servePages()
      await use(server)
      await server.close()
    },
    { scope: 'worker' },
  ],
  browser: [
    ({ playwright }, use) => useBrowser(playwright, [suiteAuthorityFile()], use),
    { scope: 'worker' },
  ],
  tenant: async ({ browser, pageServer }, use) => {
    const context = await browser.newContext()
    await use(await openTenant(context, pageServer))
    await context.close()
  },
  visitor: async ({ browser }, use) => {
    const context = await browser.newContext()
    await use(await context.newPage())
    await context.close()
  },
})

export async function openTenant(context: BrowserContext, { url }: PageServer): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url)
  return page
}
