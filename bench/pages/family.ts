// The relay's own pages with a long list: the cost for a frame of scrolling through it, and of a response that renews it.
import { chromium, type Page } from '@playwright/test'
import type { Lease } from '@svc/protocol'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { findChromium } from '../../tools/programs/chromium.ts'
import { startTestRelay } from '../../tools/relay/test-relay.ts'
import { alternate } from '../lib/alternate.ts'
import { limited, missing } from '../lib/entry.ts'
import type { Family } from '../lib/family.ts'
import { INSTALL_CHROMIUM, mainThreadSeconds } from '../lib/page.ts'

const SITES = 5000
const FRAMES = 120
/** Pixels of more than a screen of rows. */
const SCROLL_PX = 1500
const RENEWALS = 10
const LIMIT_MS = 50

const unit = 'ms'
const SCROLL = {
  name: `scrolling through ${SITES} sites, main thread a frame`,
  unit,
  better: 'less',
} as const
const RENEW = { name: `an answer with ${SITES} sites, main thread`, unit, better: 'less' } as const

export const pages: Family = async function* ({ runs }) {
  if (findChromium() === undefined) {
    for (const question of [SCROLL, RENEW])
      yield missing({ ...question, peer: 'limit' }, null, INSTALL_CHROMIUM)
    return
  }
  await buildRelayPages()
  const relay = await startTestRelay()
  const home = await createHome(relay.caFile)
  const browser = await chromium.launch(chromiumOptions(home.path))
  const page = await browser.newPage()
  const data = {
    leases: Array.from({ length: SITES }, (_, index) => lease(index)),
    landing_page_enabled: true,
  }
  await page.route('**/api/state', (route) => route.fulfill({ json: { ok: true, data } }))
  await page.goto(`${relay.url}/sites`)
  await page.locator('.site').first().waitFor()
  const milliseconds = async (count: number, work: () => Promise<void>): Promise<number> =>
    ((await mainThreadSeconds(page, work)) * 1000) / count
  const spent = await alternate(runs, {
    scroll: () => milliseconds(FRAMES, () => scroll(page)),
    renew: () => milliseconds(RENEWALS, () => renew(page)),
  })
  yield limited(SCROLL, spent.scroll, LIMIT_MS)
  yield limited(RENEW, spent.renew, LIMIT_MS)
  await browser.close()
  await Promise.all([relay.stop(), home.remove()])
}

function lease(index: number): Lease {
  const time = new Date(index * 1000).toISOString()
  return {
    name: `site-${index}`,
    hostname: `site-${index}.relay.localhost`,
    first_seen_at: time,
    last_seen_at: time,
    expires_at: time,
    udp_enabled: false,
    tcp_enabled: false,
    ready: index % 3,
    metadata: {
      description: `Number ${index}, and a little of what it is`,
      owner: 'Ada',
      tags: ['all', `tag-${index % 40}`],
    },
  }
}

function scroll(page: Page): Promise<void> {
  return page.evaluate(
    async ([frames, step]) => {
      for (let frame = 1; frame <= frames; frame++) {
        scrollTo(0, (frame * step) % document.documentElement.scrollHeight)
        await new Promise(requestAnimationFrame)
      }
    },
    [FRAMES, SCROLL_PX] as const,
  )
}

/** Lets the page ask the relay now, as when it is shown again. */
async function renew(page: Page): Promise<void> {
  for (let renewal = 0; renewal < RENEWALS; renewal++) {
    const answered = page.waitForResponse('**/api/state')
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await (await answered).finished()
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
}
