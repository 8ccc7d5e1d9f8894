// Takes the picture that chats show of a link to a relay: `node scripts/pages/card.ts`, after a change of the landing page.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { root } from '../../tools/programs/command.ts'
import { startRelay } from '../../tools/relay/process.ts'

/** Pixels, as chats and social networks show it. */
const SIZE = { width: 1200, height: 630 }
/** Of JPEG: text stays clear, in some 60 kB. */
const QUALITY = 82
/** The relay's page, and the documentation, which may be at another server. */
const FILES = ['relay/web/public/card.jpg', 'docs/site/public/card.jpg']

await buildRelayPages()
const directory = await mkdtemp(path.join(tmpdir(), 'svc-card-'))
const url = `https://relay.localhost:${await freePort()}`
const relay = await startRelay({ env: { SVC_URL: url, IDENTITY_PATH: directory } })
const home = await createHome(path.join(directory, 'ca.pem'))
const browser = await chromium.launch(chromiumOptions(home.path))
const page = await browser.newPage({ colorScheme: 'light', viewport: SIZE })
await page.goto(url)
await page.getByRole('button', { name: 'Publish' }).waitFor()
for (const file of FILES)
  await page.screenshot({ path: path.join(root, file), type: 'jpeg', quality: QUALITY })
await browser.close()
await relay.stop()
await home.remove()
await rm(directory, { recursive: true })
