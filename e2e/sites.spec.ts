// The list of sites: which sites it shows, and which not; that it is live; and that whatever a site says of itself stays text.

import type { Page } from '@playwright/test'
import type { Lease } from '@svc/protocol'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { type PublishAs, publishAs } from './support/publish-fixture.ts'
import { HOSTILE, layoutShift, look, type OpenedPage, openWeb, WIDTHS_PX } from './support/relay-page.ts'

interface Fixtures {
  sites: OpenedPage
  publishAs: PublishAs
}

const test = base.extend<Fixtures>({
  sites: async ({ browser, relay }, use) => {
    const context = await browser.newContext()
    const opened = await openWeb(context, `${relay.url}/sites`)
    await use(opened)
    expect(opened.errors).toEqual([])
    await context.close()
  },
  publishAs,
})

const row = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ hasText: `${name}.relay.localhost` })

test('sites come and go without a reload; those that are not listed never come', async ({
  sites: { page },
  publishAs,
}) => {
  const site = await publishAs('shown', {
    description: 'About tea',
    tags: ['drinks'],
    thumbnail: HOSTILE.picture,
  })
  await publishAs('unseen', { owner: 'Ada' }, false)
  await publishAs('other', { owner: 'Ada' })
  await look(page)
  await expect(row(page, 'shown')).toContainText('ready')
  await expect(row(page, 'shown').locator('img')).toHaveAttribute('src', HOSTILE.picture)
  await expect(row(page, 'shown').getByRole('link')).toHaveAttribute('href', `${site.url}/`)
  await expect(row(page, 'other')).toContainText('by Ada')
  await expect(row(page, 'unseen')).toHaveCount(0)

  await page.getByLabel('Search').fill('tea')
  await expect(row(page, 'other')).toHaveCount(0)
  await page.getByLabel('Search').fill('')
  await page.getByRole('button', { name: 'drinks' }).click()
  await expect(row(page, 'other')).toHaveCount(0)
  // The relay may have sites of other tests.
  await expect(page.locator('.filters output')).toHaveText(/^1 of \d+ sites$/)
  await site.close()
  // This time the page notices by itself.
  await expect(page.getByText('No site matches.')).toBeVisible()
})

wholeOnly(test, 'depth')(
  'a list that comes in several pages is shown whole',
  async ({ sites: { page }, publishAs }) => {
    const thumbnail = `data:image/png;base64,${'A'.repeat(100_000)}`
    const names = Array.from({ length: 4 }, (_, index) => `paged${index}`)
    for (const name of names) await publishAs(name, { thumbnail, tags: ['paged'] })
    const first = await page.evaluate(async () => (await (await fetch('/api/state')).json()).data)
    expect(first.next).toMatch(/^\d+$/)
    await look(page)
    await page.getByLabel('Search').fill('paged')
    await expect(page.locator('.filters output')).toHaveText(/^4 (?:of \d+ )?sites$/)
  },
)

wholeOnly(test, 'variant')(
  'every field of a lease is text, whatever it says',
  async ({ sites: { page }, publishAs }) => {
    const { markup, attribute, script, picture } = HOSTILE
    await publishAs('hostile-site', {
      description: markup,
      owner: attribute,
      tags: [markup, attribute],
      thumbnail: HOSTILE.page,
    })
    await publishAs('picture', { thumbnail: picture })
    // The relay takes no such address in the first place: the site is published without it.
    await publishAs('script', { thumbnail: script })
    await look(page)
    await expect(row(page, 'hostile-site')).toContainText(`${markup} · by ${attribute}`)
    await expect(row(page, 'hostile-site').locator('.tag')).toHaveText([markup.slice(0, 64), attribute])
    await expect(row(page, 'hostile-site').locator('img, script, svg')).toHaveCount(0)
    await expect(row(page, 'picture').locator('img')).toBeVisible()
    await expect(row(page, 'script').locator('img, script, svg')).toHaveCount(0)
  },
)

wholeOnly(test, 'variant')('neither would it be if the relay let it pass', async ({ sites: { page } }) => {
  const { markup, script } = HOSTILE
  await answerWith(page, [
    lease({
      name: markup,
      hostname: `x"><b>${markup}`,
      metadata: { thumbnail: script, tags: [script], owner: '\u202Eevil' },
    }),
  ])
  const site = page.locator('.site')
  await expect(site.getByRole('link')).toHaveText(`x"><b>${markup}`)
  expect(await site.getByRole('link').getAttribute('href')).toMatch(/^https:/)
  await expect(site.locator('img, script, b')).toHaveCount(0)
  await expect(site).toContainText('by evil')
})

wholeOnly(test, 'variant')('what has not changed is not sent again', async ({ sites: { page } }) => {
  const session = await page.context().newCDPSession(page)
  const statuses: number[] = []
  // Playwright shows what the page sees, for which the browser's cache answers.
  session.on('Network.responseReceivedExtraInfo', ({ statusCode }) => statuses.push(statusCode))
  await session.send('Network.enable')
  await expect
    .poll(async () => {
      await look(page)
      return statuses
    })
    .toContain(304)
  await expect(page.locator('.filters output')).toHaveText(/sites?$/)
})

wholeOnly(test, 'variant')(
  'a hidden tab does not ask, a shown one asks at once, and an outage is survived',
  async ({ sites: { page, errors } }) => {
    await page.clock.install()
    await page.reload()
    let asked = 0
    let isAway = false
    await page.route('**/api/state', async (route) => {
      asked += 1
      if (isAway) await route.fulfill({ status: 502, body: 'away', contentType: 'text/plain' })
      else await route.continue()
    })
    const show = (isShown: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, !isShown)
    await show(false)
    await page.clock.runFor(60_000)
    expect(asked).toBeLessThan(2)
    asked = 0
    await show(true)
    await expect.poll(() => asked).toBe(1)
    await page.clock.runFor(5_000)
    await expect.poll(() => asked).toBe(2)

    isAway = true
    await page.clock.runFor(5_000)
    await expect(page.getByRole('alert')).toContainText('does not answer')
    isAway = false
    await page.clock.runFor(5_000)
    await expect(page.getByRole('alert')).toHaveCount(0)
    // The browser itself logs the outage.
    expect(errors.splice(0)).toEqual([expect.stringContaining('502')])
  },
)

wholeOnly(test, 'depth')(
  'of five thousand only what is near the screen is in the document',
  async ({ sites: { page } }) => {
    const many = Array.from({ length: 5000 }, (_, i) =>
      lease({ name: `site-${i}`, hostname: `site-${String(i).padStart(4, '0')}.relay.localhost` }),
    )
    await answerWith(page, many)
    await expect(page.locator('.filters output')).toHaveText('5,000 sites')
    for (const [place, name] of [
      [0, 'site-0000'],
      [0.5, 'site-2500'],
      [1, 'site-4999'],
    ] as const) {
      await page.evaluate(
        (part) => scrollTo(0, part * (document.documentElement.scrollHeight - innerHeight)),
        place,
      )
      await expect(page.getByText(`${name}.`)).toBeVisible()
      expect(await page.getByRole('listitem').count()).toBeLessThan(80)
    }
    await page.getByLabel('Search').fill('site-4242')
    await expect(page.locator('.site')).toHaveCount(1)
    await expect(page.locator('.site')).toBeInViewport()
  },
)

wholeOnly(test, 'appearance')(
  'nothing jumps; it fits every width in both themes, and axe-core finds nothing',
  async ({ sites: { page }, publishAs }, info) => {
    const description = 'A description that goes on for longer than a line of any screen could hold. '.repeat(
      4,
    )
    await publishAs('a-rather-long-name-too', {
      description,
      tags: Array.from({ length: 16 }, (_, i) => `tag-${i}`),
    })
    await publishAs('thumbnail', { description: 'One', thumbnail: HOSTILE.picture, tags: ['tag-1'] })
    await page.reload()
    // there may be sites of other tests, too
    await expect(row(page, 'a-rather-long-name-too')).toBeVisible()
    await expect(row(page, 'thumbnail')).toBeVisible()
    expect(await layoutShift(page)).toBeLessThan(0.01)
    await expectFits({ sites: page }, info, WIDTHS_PX)
    await expectAccessible(page)
  },
)

function lease(fields: Partial<Lease>): Lease {
  const time = '2026-01-01T00:00:00.000Z'
  const times = { expires_at: time, first_seen_at: time, last_seen_at: time }
  const ports = { udp_enabled: false, tcp_enabled: false }
  return { name: '', hostname: '', ready: 1, metadata: {}, ...times, ...ports, ...fields }
}

async function answerWith(page: Page, leases: Lease[]): Promise<void> {
  await page.route('**/api/state', (route) =>
    route.fulfill({ json: { ok: true, data: { leases, landing_page_enabled: true } } }),
  )
  await page.reload()
}
