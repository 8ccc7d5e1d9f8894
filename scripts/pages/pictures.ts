// Takes the README's pictures of the real pages: `node scripts/pages/pictures.ts`, after a change of the landing page. A relay
// runs, a browser publishes a note from the landing page and another visits it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Browser, chromium } from '@playwright/test'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { root } from '../../tools/programs/command.ts'
import { startRelay } from '../../tools/relay/process.ts'

const THEMES = ['light', 'dark'] as const
/** CSS pixels. */
const VIEWPORT = { width: 1180, height: 900 }
/** Pixels of the file for each. */
const SCALE = 1.5
const MARGIN_PX = 32
const NOTE =
  'Hello from a browser tab\n\nThis page is served by a tab in my browser. Close it, and the page is gone.'

await buildRelayPages()
const directory = await mkdtemp(path.join(tmpdir(), 'svc-pictures-'))
const url = `https://relay.localhost:${await freePort()}`
const relay = await startRelay({ env: { SVC_URL: url, IDENTITY_PATH: directory } })
const home = await createHome(path.join(directory, 'ca.pem'))
const browser = await chromium.launch(chromiumOptions(home.path))
for (const theme of THEMES) await picture(browser, theme)
await browser.close()
await relay.stop()
await home.remove()
await rm(directory, { recursive: true })

async function picture(browser: Browser, colorScheme: (typeof THEMES)[number]): Promise<void> {
  const context = await browser.newContext({ colorScheme, viewport: VIEWPORT, deviceScaleFactor: SCALE })
  const page = await context.newPage()
  await page.goto(url)
  await page.getByLabel('Text or HTML').fill(NOTE)
  await page.getByRole('button', { name: 'Publish' }).click()
  const address = page.locator('.address a')
  await address.waitFor()
  const visitor = await context.newPage()
  await visitor.goto((await address.textContent()) ?? '')
  await page.bringToFront()
  await page.locator('.request').waitFor()
  // The dot has arrived.
  await page.waitForTimeout(1000)
  const diagram = await page.locator('.path').boundingBox()
  const height = (diagram?.y ?? 0) + (diagram?.height ?? 0) + MARGIN_PX
  const file = path.join(root, `docs/pictures/landing-${colorScheme}.png`)
  await page.screenshot({ path: file, fullPage: true, clip: { ...VIEWPORT, x: 0, y: 0, height } })
  await context.close()
}
