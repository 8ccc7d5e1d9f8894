// A page of a browser of this machine publishes by the package, which it loads by an import map.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { findFirefox, startFirefox } from '../../tools/browser/firefox.ts'
import { importMap } from '../packages/import-map.ts'
import { servePage } from '../packages/page-server.ts'
import { type Relay, visit } from './prove-runtime.ts'

/** What both browsers' drivers have of a page. */
interface Page {
  goto(url: string): Promise<unknown>
  evaluate<R>(work: () => R | Promise<R>): Promise<R>
}

interface Browser {
  name: string
  version: string
  /** Opens a page, which `use` has. */
  withPage(caFile: string, use: (page: Page) => Promise<void>): Promise<void>
}

const PAGE = 'site.html'
const SCRIPT = `<script type="module">
import { publish } from '@svc/sdk-browser'
const query = new URLSearchParams(location.search)
globalThis.publishing = publish({
  relay: query.get('relay'),
  name: query.get('name'),
  fetch: async (request) => new Response(\`\${request.method} \${await request.text()}\`),
})
</script>`

/** Those that this machine has. @throws Error when it has no Firefox */
export async function findBrowsers(): Promise<Browser[]> {
  return [await findChromium(), await findFirefoxEsr()]
}

/** @throws Error that says what went wrong */
export async function proveBrowser(browser: Browser, folder: string, relay: Relay): Promise<string> {
  writeFileSync(
    path.join(folder, PAGE),
    `<!doctype html>\n<title>site</title>\n${importMap(folder)}\n${SCRIPT}\n`,
  )
  const server = await servePage(folder, `/${PAGE}`)
  try {
    await browser.withPage(relay.caFile, async (page) => {
      await page.goto(
        `${server.url}?relay=${encodeURIComponent(relay.url)}&name=${browser.name.toLowerCase()}`,
      )
      await visit(await page.evaluate(urlOf), relay.caFile)
      const state = await page.evaluate(close)
      if (state !== 'closed') throw new Error(`the site is ${state}`)
    })
    return 'works'
  } finally {
    server.close()
  }
}

/** What the page's script keeps in its global. */
type Published = { publishing: Promise<{ url: string; state: string; close(): Promise<void> }> }

async function urlOf(): Promise<string> {
  return (await (globalThis as unknown as Published).publishing).url
}

async function close(): Promise<string> {
  const site = await (globalThis as unknown as Published).publishing
  await site.close()
  return site.state
}

async function findChromium(): Promise<Browser> {
  const open = async (caFile?: string) => {
    const home = await createHome(caFile)
    const browser = await chromium.launch(chromiumOptions(home.path))
    const end = async (): Promise<void> => {
      await browser.close()
      await home.remove()
    }
    return { browser, end }
  }
  const { browser, end } = await open()
  const version = browser.version()
  await end()
  return {
    name: 'Chromium',
    version,
    withPage: async (caFile, use) => {
      const { browser, end } = await open(caFile)
      await browser.newPage().then(use).finally(end)
    },
  }
}

async function findFirefoxEsr(): Promise<Browser> {
  const found = await findFirefox()
  if (found === undefined) throw new Error('No Firefox: install Debian firefox-esr')
  return {
    name: 'Firefox',
    version: found.version,
    withPage: async (caFile, use) => {
      const firefox = await startFirefox(found.command, caFile)
      await firefox
        .newPage()
        .then(use)
        .finally(() => firefox.close())
    },
  }
}
