// Tests who may register: invitations, pinned names and administrators in the administration page, and the landing page with an invitation.

import { startTestRelay } from '../tools/relay/test-relay.ts'
import { test as base, expect } from './fixtures.ts'
import { logIn, openAccess, openSection } from './support/administration.ts'
import { expectAccessiblePart, expectFits } from './support/example-page.ts'
import { openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const ADDRESS = `0x${'12'.repeat(20)}`

const test = base.extend({
  relay: async ({ oncePerFile }, use) =>
    use(await oncePerFile('relay', () => startTestRelay({ env: { ADMIN_TOKEN, REGISTRATION: 'token' } }))),
})

test('invitations are made, shown once and withdrawn; names are pinned; another administrator comes and goes', async ({
  context,
  relay,
}, info) => {
  const { page, errors } = await openWeb(context, `${relay.url}/admin`)
  await logIn(page, ADMIN_TOKEN)

  await openAccess(page, 'Invitations')
  const invitations = page.getByRole('region', { name: 'Invitations' })
  await invitations.getByLabel('Names').fill('3')
  await invitations.getByLabel('Note').fill('the <b>team</b>')
  await invitations.getByRole('button', { name: 'Invite' }).click()
  await expect(invitations.locator('pre')).toHaveText(/^svc-invitation-[\w-]{43}$/)
  const line = invitations
    .getByRole('listitem')
    .filter({ hasText: 'the <b>team</b>' })
    .filter({ hasText: /0 of 3 names used · ends in/ })
  await expect(line).toBeVisible()
  await invitations.getByRole('button', { name: 'Dismiss' }).click()
  await expect(invitations.locator('pre')).toHaveCount(0)
  await line.getByRole('button').click()
  await page.getByRole('button', { name: 'Yes' }).click()
  await expect(line).toHaveCount(0)

  await openAccess(page, 'Names')
  const pins = page.getByRole('region', { name: 'Pinned names' })
  await pins.getByLabel('Name to pin').fill('Brand')
  await pins.getByLabel('Address of its owner').fill(ADDRESS)
  await pins.getByRole('button', { name: 'Pin', exact: true }).click()
  await expect(pins.getByRole('listitem')).toHaveText(`brand: ${ADDRESS}Unpin`)
  await page.locator('.message').getByRole('button', { name: 'Undo' }).click()
  await expect(pins.getByRole('listitem')).toHaveCount(0)

  await openSection(page, 'Settings')
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

test('the landing page asks for an invitation when the relay does, and says what is wrong with one', async ({
  browser,
  context,
  relay,
}) => {
  const admin = await openWeb(context, `${relay.url}/admin`)
  await logIn(admin.page, ADMIN_TOKEN)
  await openAccess(admin.page, 'Invitations')
  const invitations = admin.page.getByRole('region', { name: 'Invitations' })
  await invitations.getByRole('button', { name: 'Invite' }).click()
  const token = await invitations.locator('pre').innerText()

  const { page } = await openWeb(context, relay.url)
  const field = page.getByLabel('Invitation', { exact: true })
  const state = page.locator('.publish .state')
  const publish = page.getByRole('button', { name: 'Publish' })
  await expect(publish).toBeVisible()
  await expect(field).toHaveCount(0)
  await publish.click()
  await expect(field).toBeFocused()
  await expect(field).toHaveAccessibleDescription(/lets nobody publish without an invitation/)
  await expectAccessiblePart(page, '.publish')
  await field.fill('svc-invitation-guess')
  await field.press('Enter')
  await expect(field).toHaveAccessibleDescription(/not known here/)
  await field.fill(` ${token} `)
  await field.press('Enter')
  await expect(state).toHaveText('online')
  // A publisher needs the invitation once, and the page does not store it.
  await page.reload()
  await expect(state).toHaveText('online')
  expect(
    await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])),
  ).not.toContain(token)

  const other = await browser.newContext()
  const second = (await openWeb(other, relay.url)).page
  await second.getByRole('button', { name: 'Publish' }).click()
  await second.getByLabel('Invitation', { exact: true }).fill(token)
  await second.getByLabel('Invitation', { exact: true }).press('Enter')
  await expect(second.getByRole('alert').filter({ hasText: 'is used up' })).toBeVisible()
  await other.close()
})
