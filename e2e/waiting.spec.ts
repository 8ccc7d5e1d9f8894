// A relay whose operator approves sites by hand: pages say that they wait, and come online by themselves.

import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { startFixtureRelay } from '../tools/relay/fixture-relay.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const WAITS = 'The relay’s operator has to approve this site first.'

const test = base.extend({
  relay: async ({ oncePerFile }, use) => use(await oncePerFile('relay', startManualRelay)),
})

async function startManualRelay(): Promise<TestRelay> {
  const relay = await startFixtureRelay({ ADMIN_TOKEN })
  const policy = await ask(relay, '/api/policy')
  await ask(relay, '/api/policy', { ...policy, approval_mode: 'manual' })
  return relay
}

async function ask<T extends object>({ url, caFile }: TestRelay, path: string, body?: object): Promise<T> {
  const send = body ? ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)] : []
  const answer = await curl(caFile, '-H', `Authorization: Bearer ${ADMIN_TOKEN}`, ...send, `${url}${path}`)
  return JSON.parse(String(answer)).data
}

async function approveAll(relay: TestRelay): Promise<void> {
  const { leases } = await ask<{ leases: { identity_key: string }[] }>(relay, '/api/policy/state')
  for (const { identity_key } of leases)
    await ask(relay, '/api/policy/leases', { identity_key, is_approved: true })
}

/** Publishes, and expects the page to wait, to show why, and to be reachable once it is approved. */
async function waits(page: Page, relay: TestRelay, state: string, link: string): Promise<void> {
  await expect(page.locator(state)).toHaveText('waiting')
  await expect(page.getByText(WAITS)).toBeVisible()
  const url = (await page.locator(link).textContent()) ?? ''
  await expect(curl(relay.caFile, url)).rejects.toThrow('curl: (')
  await approveAll(relay)
  await expect(page.locator(state)).toHaveText('online')
  await expect(page.getByText(WAITS)).toHaveCount(0)
  expect(String(await curl(relay.caFile, url))).toContain('Hello')
}

wholeOnly(test, 'variant')('the landing page', async ({ relay, visitor }) => {
  await visitor.goto(relay.url)
  await visitor.getByRole('button', { name: 'Publish' }).click()
  await waits(visitor, relay, '.publish .state', '.address a')
})

test('an example, and a site that is stopped while it waits leaves no error behind', async ({
  relay,
  visitor,
}) => {
  await visitor.goto(`${relay.url}/examples/hello/`)
  await expect(visitor.locator('#state')).toHaveText('waiting')
  await visitor.getByRole('button', { name: 'Stop' }).click()
  await expect(visitor.locator('#state')).toHaveText('closed')
  await expect(visitor.locator('#error')).toHaveText('')
  await visitor.getByRole('button', { name: 'Publish' }).click()
  await waits(visitor, relay, '#state', '#url')
})
