// The administration looks as in its pictures, section by section: `npm run e2e -- appearance --update` makes them anew.
import type { Page } from '@playwright/test'
import { expect } from './fixtures.ts'
import { logIn, openAccess, openSection, openSite } from './support/administration.ts'
import { ADMIN_TOKEN, closeAll, looks, NAMES, publishSites } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'

async function requireApproval(page: Page): Promise<void> {
  await openSection(page, 'Settings')
  await page.getByText('With approval').click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Yes, do it' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

looks('log-in, and sections of a relay on which nothing has happened', async ({ page, relay }) => {
  await page.goto(`${relay.url}/admin`)
  await expect(page.getByLabel('Admin token')).toBeVisible()
  await expectLook(page, 'admin-login')
  await page.getByLabel('Admin token').fill('wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByText('That is not the admin token.')).toBeVisible()
  await expectLook(page, 'admin-login-wrong')
  await logIn(page, ADMIN_TOKEN)
  await expect(page.locator('canvas')).toHaveCount(3)
  await expectLook(page, 'admin-overview-empty')
  for (const section of ['Sites', 'Access', 'Certificates', 'Relays', 'Domains', 'Settings', 'History']) {
    await openSection(page, section)
    await page.waitForLoadState('networkidle')
    await expectLook(page, `admin-${section.toLowerCase()}-empty`)
  }
  for (const part of ['Bans', 'Invitations', 'Names']) {
    await openAccess(page, part)
    await page.waitForLoadState('networkidle')
    await expectLook(page, `admin-${part.toLowerCase()}-empty`)
  }
})

looks('one site, and a session that has ended', async ({ page, relay }) => {
  const sites = await publishSites(relay, NAMES.slice(0, 1))
  await page.goto(`${relay.url}/admin`)
  await logIn(page, ADMIN_TOKEN)
  await openSection(page, 'Sites')
  await expect(page.locator('.site-row')).toHaveCount(1)
  await expectLook(page, 'admin-sites-one')
  await page.route('**/api/**', (route) => route.abort())
  await expect(page.getByRole('alert').filter({ hasText: /./ })).toBeVisible()
  await expectLook(page, 'admin-unreachable')
  await closeAll(sites)
})

looks('many sites, one in full, a ban, the queue, the history', async ({ page, relay }) => {
  const sites = await publishSites(relay, NAMES)
  await page.goto(`${relay.url}/admin`)
  await logIn(page, ADMIN_TOKEN)
  await expect(page.locator('canvas')).toHaveCount(3)
  await expectLook(page, 'admin-overview')
  await openSection(page, 'Sites')
  await expect(page.locator('.site-row')).toHaveCount(NAMES.length)
  await expectLook(page, 'admin-sites')
  await openSite(page, NAMES[1]!)
  await expect(page.locator('canvas')).toHaveCount(2)
  await expectLook(page, 'admin-site', { fullPage: true })
  await page.getByRole('button', { name: 'Ban', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('It copies the page of a bank.')
  await expectLook(page, 'admin-ban')
  await page.getByRole('dialog').getByRole('button', { name: 'Ban', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Lift ban' })).toBeVisible()
  await openAccess(page, 'Bans')
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'admin-bans')
  await requireApproval(page)
  await openSection(page, 'Access')
  await expect(page.getByRole('button', { name: 'Approve: tea' })).toBeVisible()
  await expectLook(page, 'admin-queue')
  await openSection(page, 'History')
  await expect(page.getByRole('region', { name: 'Recent changes' }).getByRole('listitem')).toHaveCount(2)
  await expectLook(page, 'admin-history')
  await closeAll(sites)
})
