// The administration's card of machines: which there are and what each carries, and that Redis does not answer.

import type { Page } from '@playwright/test'
import type { AdminLoadResponse, AdminMachine } from '@svc/protocol'
import { startTestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { logIn, navigation, openSection } from './support/administration.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { HOSTILE, look, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const NARROW_PX = 320
const LOAD_PATH = '**/api/admin/load'

const test = base.extend<{ opened: { page: Page; errors: string[] } }>({
  relay: async ({ oncePerFile }, use) =>
    use(await oncePerFile('relay', () => startTestRelay({ env: { ADMIN_TOKEN } }))),
  opened: async ({ context, relay }, use) => {
    const opened = await openWeb(context, `${relay.url}/admin`)
    await use(opened)
    expect(opened.errors).toEqual([])
  },
})

function machine(address: string, fields: Partial<AdminMachine> = {}): AdminMachine {
  return {
    address,
    release_version: '1.2.3',
    state: 'online',
    is_this: false,
    started_at: new Date(Date.now() - 86_400_000).toISOString(),
    seen_at: new Date(Date.now() - 500).toISOString(),
    carriers: 1_234,
    ready_sessions: 2_468,
    visitor_connections: 56,
    visitor_received_bytes: 78_000_000,
    visitor_sent_bytes: 9_100_000_000,
    ...fields,
  }
}

const FOUR: AdminMachine[] = [
  machine('10.0.0.2:7443', { is_this: true }),
  machine('10.0.0.1:7443', { state: 'draining', release_version: '1.2.2' }),
  machine('[2001:db8:1234:5678:9abc:def0:1234:5678]:7443', { state: 'unreachable' }),
  machine('relay-4.machines.example.com:7443', {
    state: 'gone',
    seen_at: new Date(Date.now() - 300_000).toISOString(),
  }),
]

/** Answers the page's questions for the load in the relay's place, until the next call. */
async function say(page: Page, fields: Pick<AdminLoadResponse, 'machines' | 'redis'>): Promise<void> {
  const data: AdminLoadResponse = {
    leases: 3,
    ready_sessions: 7_404,
    carriers: 3_702,
    visitor_connections: 168,
    visitor_received_bytes: 234_000_000,
    visitor_sent_bytes: 27_300_000_000,
    ...fields,
  }
  await page.unroute(LOAD_PATH)
  await page.route(LOAD_PATH, (route) => route.fulfill({ json: { ok: true, data } }))
  await look(page)
}

const cardOf = (page: Page) => page.getByRole('region', { name: 'Machines' })

wholeOnly(test, 'variant')('a relay on one machine has no such section', async ({ opened: { page } }) => {
  await logIn(page, ADMIN_TOKEN)
  await expect(page.getByRole('region', { name: 'Load' })).toBeVisible()
  await expect(navigation(page).getByRole('link', { name: 'Machines' })).toHaveCount(0)
  await expect(page.getByRole('alert')).toHaveCount(0)
})

wholeOnly(test, 'appearance')(
  'each machine has its state in words and its figures; it fits every width in both themes, and axe-core finds nothing',
  async ({ opened: { page } }, info) => {
    await logIn(page, ADMIN_TOKEN)
    await say(page, { machines: FOUR, redis: 'up' })
    await openSection(page, 'Machines')
    const card = cardOf(page)
    await expect(card.getByRole('heading')).toHaveText('Machines 1 of 3 online')
    const rows = card.locator('tbody tr')
    await expect(rows.locator('th')).toHaveText([
      '10.0.0.1:7443',
      '10.0.0.2:7443 answers this page',
      '[2001:db8:1234:5678:9abc:def0:1234:5678]:7443',
      'relay-4.machines.example.com:7443',
    ])
    await expect(rows.locator('.state')).toHaveText(['draining', 'online', 'unreachable', 'gone'])
    await expect(rows.nth(0).locator('td')).toHaveText([
      'draining',
      '1.2.2',
      '1,234',
      '56',
      '78 MB',
      '9.1 GB',
      /now|ago/,
    ])
    await expect(rows.nth(3).locator('td')).toHaveText([
      'gone',
      '1.2.3',
      '–',
      '–',
      '–',
      '–',
      /^\d min\. ago$/,
    ])
    await expect(page.getByRole('alert')).toHaveCount(0)
    await expectFits({ machines: page }, info, [NARROW_PX, ...WIDTHS_PX])
    await expectAccessible(page)
    // On a phone the table is blocks, whose order and names axe-core looks at once more.
    await page.setViewportSize({ width: WIDTHS_PX[0], height: 844 })
    await expectAccessible(page)
  },
)

wholeOnly(test, 'faults')(
  'a Redis that does not answer is said until it answers again',
  async ({ opened: { page } }, info) => {
    await logIn(page, ADMIN_TOKEN)
    await say(page, { machines: FOUR, redis: 'down' })
    await expect(page.getByRole('alert')).toContainText(
      'New sites cannot register until Redis answers again.',
    )
    await expectFits({ redis: page }, info, WIDTHS_PX)
    await expectAccessible(page)
    await say(page, { machines: FOUR, redis: 'up' })
    await expect(page.getByRole('alert')).toHaveCount(0)
  },
)

test('nothing that a machine says is more than text', async ({ opened: { page } }) => {
  const { markup, attribute } = HOSTILE
  await logIn(page, ADMIN_TOKEN)
  await say(page, { machines: [machine(attribute, { release_version: markup })], redis: 'up' })
  await openSection(page, 'Machines')
  const card = cardOf(page)
  for (const text of [markup, attribute]) await expect(card).toContainText(text)
  await expect(card.locator('img, script, svg')).toHaveCount(0)
})
