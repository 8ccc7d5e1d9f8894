// A page in Chromium, whose module is bundled as users bundle it and served from a secure context.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from '@playwright/test'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { bundle } from '../../tools/bundler/bundle.ts'
import { findChromium } from '../../tools/programs/chromium.ts'
import { Chromium, type Tab } from './chromium.ts'

export const INSTALL_CHROMIUM = 'npx playwright install chromium, or name one in CHROMIUM_PATH'

export interface BenchPage {
  page: Page
  close(): Promise<void>
}

export interface PageOptions {
  /** An authority to trust beside the usual ones. */
  caFile?: string
  /** Runs in the page before its module. */
  init?: () => void
}

export interface BenchTab {
  tab: Tab
  browser: Chromium
  close(): Promise<void>
}

/**
 * Opens a tab for benchmarks that move bytes: no debugger inspects it.
 * @param caFile an authority to trust beside the usual ones
 * @returns undefined where there is no Chromium
 */
export async function openTab(entry: string, caFile?: string): Promise<BenchTab | undefined> {
  const browser = await Chromium.launch(caFile)
  if (browser === undefined) return undefined
  const server = await servePage(entry)
  const tab = await browser.open(server.url)
  const close = async (): Promise<void> => {
    await browser.close()
    server.close()
  }
  return { tab, browser, close }
}

/**
 * Opens a page for benchmarks that compute: Playwright drives it, and can measure it. @returns undefined where there is no
 * Chromium
 */
export async function openPage(entry: string, options: PageOptions = {}): Promise<BenchPage | undefined> {
  if (findChromium() === undefined) return undefined
  const server = await servePage(entry)
  const home = await createHome(options.caFile)
  const browser = await chromium.launch(chromiumOptions(home.path))
  const page = await browser.newPage()
  if (options.init !== undefined) await page.addInitScript(options.init)
  page.on('pageerror', (error) => console.error(error))
  await page.goto(server.url)
  const close = async (): Promise<void> => {
    await browser.close()
    server.close()
    await home.remove()
  }
  return { page, close }
}

/** Serves the module of `file`, bundled, in an empty page. */
export async function servePage(file: string): Promise<{ url: string; close(): void }> {
  const chunks = await bundle(file)
  const entry = chunks.find((chunk) => chunk.isEntry)!
  const html = `<!doctype html><link rel="icon" href="data:,"><script type="module" src="/${entry.fileName}"></script>`
  const server = createServer((request, response) => {
    const chunk = chunks.find(({ fileName }) => request.url === `/${fileName}`)
    response.setHeader('Content-Type', chunk ? 'text/javascript' : 'text/html').end(chunk?.code ?? html)
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://localhost:${port}/`, close: () => server.close() }
}

/** Seconds that the page's main thread computed while `work` ran: other processes do not count. */
export async function mainThreadSeconds(page: Page, work: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const seconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value
  }
  const start = await seconds()
  await work()
  const spent = (await seconds()) - start
  await session.detach()
  return spent
}
