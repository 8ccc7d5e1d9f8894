// The administration of who may register: invitations, pinned names and administrators, in the page.

import type { Page } from '@playwright/test'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { test as base, expect } from './fixtures.ts'
import { expectAccessiblePart, expectFits } from './support/example-page.ts'
import { openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const ADDRESS = `0x${'12'.repeat(20)}`

const test = base.extend<object, { relay: TestRelay }>({
  relay: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const relay = await startTestRelay({ env: { ADMIN_TOKEN } })
      await use(relay)
      await relay.stop()
    },
    { scope: 'worker' },
  ],
})

async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('heading', { name: 'Leases' })).toBeVisible()
}

test('invitations are made, shown once and withdrawn; names are pinned; another administrator comes and goes', async ({
  context,
  relay,
}, info) => {
  const { page, errors } = await openWeb(context, `${relay.url}/admin`)
  await logIn(page, ADMIN_TOKEN)

  const invitations = page.getByRole('region', { name: 'Invitations' })
  await invitations.getByLabel('Names').fill('3')
  await invitations.getByLabel('Note').fill('the <b>team</b>')
  await invitations.getByRole('button', { name: 'Invite' }).click()
  await expect(invitations.locator('pre')).toHaveText(/^svc-invitation-[\w-]{43}$/)
  const line = invitations
    .getByRole('listitem')
    .filter({ hasText: 'the <b>team</b>, 0 of 3 names used, until' })
  await expect(line).toBeVisible()
  await invitations.getByRole('button', { name: 'Dismiss' }).click()
  await expect(invitations.locator('pre')).toHaveCount(0)
  await line.getByRole('button').click()
  await page.getByRole('button', { name: 'Yes' }).click()
  await expect(line).toHaveCount(0)

  const pins = page.getByRole('region', { name: 'Pinned names' })
  await pins.getByLabel('Name to pin').fill('Brand')
  await pins.getByLabel('Address of its owner').fill(ADDRESS)
  await pins.getByRole('button', { name: 'Pin', exact: true }).click()
  await expect(pins.getByRole('listitem')).toHaveText(`brand: ${ADDRESS}Unpin`)
  await page.locator('.message').getByRole('button', { name: 'Undo' }).click()
  await expect(pins.getByRole('listitem')).toHaveCount(0)

  const administrators = page.getByRole('region', { name: 'Administrators' })
  await administrators.getByLabel('Name of an administrator').fill('alice')
  await administrators.getByRole('button', { name: 'Make a token' }).click()
  await expect(administrators.locator('pre')).toHaveText(/^svc-admin-/)
  const token = await administrators.locator('pre').innerText()
  await expectAccessiblePart(page, '.admin')
  await expectFits({ invitations: page }, info, WIDTHS_PX)

  const other = await openWeb(context, `${relay.url}/admin`)
  await logIn(other.page, token)
  await page.getByRole('button', { name: 'Take back: alice' }).click()
  await page.getByRole('button', { name: 'Yes' }).click()
  // The page of the other one asks again within seconds, and is logged out.
  await expect(other.page.getByLabel('Admin token')).toBeVisible()
  expect(errors).toEqual([])
  // The browser itself logs a 401.
  expect(other.errors.every((error) => error.includes('401'))).toBe(true)
})
