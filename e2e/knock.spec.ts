// A visitor waits in Chromium until the owner answers in the page that publishes.

import type { Page } from '@playwright/test'
import type { Site } from '@svc/sdk-browser'
import { expect, test } from './fixtures.ts'

/** Publishes a site whose visitors knock. @returns its URL */
async function publish(tenant: Page, relay: string, name: string): Promise<string> {
  return tenant.evaluate(
    async ([relay, name]) => {
      const fetch = (): Response =>
        new Response('<h1>Inside</h1>', { headers: { 'Content-Type': 'text/html' } })
      const site = await svc.publish({ relay, name, fetch, access: { knock: true } })
      Object.assign(globalThis, { site })
      return site.url
    },
    [relay, name] as const,
  )
}

/** Waits for a visitor, and answers it. @returns what the owner sees */
async function answer(tenant: Page, isAdmitted: boolean): Promise<Record<string, unknown>> {
  return tenant.evaluate(async (isAdmitted) => {
    const { site } = globalThis as unknown as { site: Site }
    const visitor =
      site.knocks?.[0] ??
      (await new Promise<NonNullable<Site['knocks']>[number]>((resolve) => {
        site.addEventListener('knock', ({ visitor }) => resolve(visitor), { once: true })
      }))
    const { code, browser, path, address } = visitor
    // The visitor's page shows the number before it is answered.
    await new Promise((resolve) => setTimeout(resolve, 500))
    if (isAdmitted) visitor.admit()
    else visitor.refuse()
    return { code, browser, path, address }
  }, isAdmitted)
}

test('who is let in comes in by itself, and who is not is told so', async ({ relay, tenant, visitor }) => {
  const url = await publish(tenant, relay.url, 'knock')
  const shown = visitor.locator('strong')
  const numbers: Promise<string | null> = visitor
    .goto(`${url}/path?query`)
    .then(() => shown.textContent({ timeout: 30_000 }))
  const seen = await answer(tenant, true)
  expect(seen).toMatchObject({ browser: 'Chrome on Linux', path: '/path', address: expect.any(String) })
  expect(await numbers).toBe(seen.code)
  await expect(visitor.getByRole('heading')).toHaveText('Inside', { timeout: 30_000 })
  expect(visitor.url()).toBe(`${url}/path?query`)
  await visitor.goto(`${url}/other`)
  await expect(visitor.getByRole('heading')).toHaveText('Inside')

  const context = await visitor
    .context()
    .browser()!
    .newContext({ viewport: { width: 360, height: 640 } })
  const phone = await context.newPage()
  await phone.goto(url)
  await expect(phone.getByText('Your number is')).toBeVisible({ timeout: 30_000 })
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await answer(tenant, false)
  await expect(phone.getByRole('heading')).toHaveText('Not let in', { timeout: 30_000 })
  await context.close()
})

test('the landing page lists who waits, and answers', async ({ relay, visitor: owner, browser }) => {
  await owner.setViewportSize({ width: 360, height: 640 })
  await owner.goto(relay.url)
  await owner.getByText('Who may come in').click()
  await owner.getByLabel('Ask me about each visitor').check()
  await owner.getByRole('button', { name: 'Publish' }).click()
  await expect(owner.locator('.publish .state')).toHaveText('online')
  await expect(owner.getByText('Nobody waits')).toBeVisible()
  const url = (await owner.locator('.address a').textContent()) ?? ''
  const context = await browser.newContext()
  const guest = await context.newPage()
  await guest.goto(url)
  const code = (await guest.locator('strong').textContent({ timeout: 30_000 })) ?? ''
  await expect(owner.locator('.knocks li')).toContainText(`${code} `)
  expect(await owner.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await owner.getByRole('button', { name: `Let in: ${code}` }).click()
  await expect(guest.locator('body')).toContainText('Hello', { timeout: 30_000 })
  await expect(owner.locator('.knocks li')).toHaveCount(0)
  await context.close()
})
