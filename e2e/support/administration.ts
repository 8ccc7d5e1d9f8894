// Opens the relay's administration, and its sections.
import type { Page } from '@playwright/test'
import { expect } from '../fixtures.ts'

export async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(navigation(page).getByRole('link', { name: 'Overview', includeHidden: true })).toBeAttached()
}

/** Goes to a section by the navigation. */
export async function openSection(page: Page, name: string): Promise<void> {
  const menu = navigation(page).getByRole('button', { name: /^Sections/ })
  if (await menu.isVisible()) await menu.click()
  await navigation(page).getByRole('link', { name }).click()
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
}

/** Goes to a part of the section of access. */
export async function openAccess(page: Page, part: string): Promise<void> {
  await openSection(page, 'Access')
  await page.getByRole('navigation', { name: 'Access' }).getByRole('link', { name: part }).click()
}

export async function openSite(page: Page, name: string): Promise<void> {
  await openSection(page, 'Sites')
  await page.getByRole('link', { name: `Details of ${name}` }).click()
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
}

/** Fills in the dialog that asks about a ban, and bans. */
export async function confirmBan(page: Page, reason = ''): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByRole('button', { name: 'Ban', exact: true }).click()
  await expect(dialog).toHaveCount(0)
}

export function navigation(page: Page) {
  return page.getByRole('navigation', { name: 'Administration' })
}

/** The state of a site in the table of sites. */
export function standing(page: Page, name: string) {
  return page
    .getByRole('row')
    .filter({ hasText: `${name}.relay.localhost` })
    .locator('.state')
}
