// Takes the README's pictures of the real pages, for light and dark: `node scripts/pages/pictures.ts`, after a change of the landing page.
// It needs NSS and openssl.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { root } from '../../tools/programs/command.ts'
import { startPublicRelay } from './public-relay.ts'
import { recordTour } from './tour.ts'

const THEMES = ['light', 'dark'] as const
const NOTE =
  'Hello from a browser tab\n\nThis page is served by a tab in my browser. Close it, and the page is gone.'

await buildRelayPages()
const directory = await mkdtemp(path.join(tmpdir(), 'svc-pictures-'))
for (const colorScheme of THEMES) {
  // A relay for each: the first one's name would still wait for the tab that had it.
  const { url, caFile, relay, resolverRules } = await startPublicRelay(path.join(directory, colorScheme))
  const home = await createHome(caFile)
  const { args = [], ...options } = chromiumOptions(home.path)
  const rules = `--host-resolver-rules=${resolverRules}`
  const browser = await chromium.launch({ ...options, args: [...args, rules] })
  const { last, animation } = await recordTour(browser, { url, colorScheme, note: NOTE, name: 'hello' })
  const write = (name: string, content: Buffer): Promise<void> =>
    writeFile(path.join(root, `docs/pictures/${name}`), content)
  await write(`landing-${colorScheme}.png`, last)
  await write(`tour-${colorScheme}.webp`, animation)
  console.log(`docs/pictures/tour-${colorScheme}.webp: ${Math.round(animation.length / 1000)} kB`)
  await browser.close()
  await relay.stop()
  await home.remove()
}
await rm(directory, { recursive: true })
