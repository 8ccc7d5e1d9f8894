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

/** Waits for a visitor, whom nobody answers yet. @returns what the owner sees */
async function nextKnock(tenant: Page): Promise<Record<string, unknown>> {
  return tenant.evaluate(async () => {
    const { site } = globalThis as unknown as { site: Site }
    const visitor =
      site.knocks?.[0] ??
      (await new Promise<NonNullable<Site['knocks']>[number]>((resolve) => {
        site.addEventListener('knock', ({ visitor }) => resolve(visitor), { once: true })
      }))
    const { code, browser, path, address } = visitor
    return { code, browser, path, address }
  })
}

async function answer(tenant: Page, isAdmitted: boolean): Promise<void> {
  await tenant.evaluate((isAdmitted) => {
    const [visitor] = (globalThis as unknown as { site: Site }).site.knocks!
    if (isAdmitted) visitor!.admit()
    else visitor!.refuse()
  }, isAdmitted)
}

test('who is let in comes in by itself, and who is not is told so', async ({ relay, tenant, visitor }) => {
  const url = await publish(tenant, relay.url, 'knock')
  const [seen] = await Promise.all([nextKnock(tenant), visitor.goto(`${url}/path?query`)])
  expect(seen).toMatchObject({ browser: 'Chrome on Linux', path: '/path', address: expect.any(String) })
  await expect(visitor.locator('main strong')).toHaveText(String(seen.code))
  await answer(tenant, true)
  await expect(visitor.getByRole('heading')).toHaveText('Inside')
  expect(visitor.url()).toBe(`${url}/path?query`)
  await visitor.goto(`${url}/other`)
  await expect(visitor.getByRole('heading')).toHaveText('Inside')

  const context = await visitor
    .context()
    .browser()!
    .newContext({ viewport: { width: 360, height: 640 } })
  const phone = await context.newPage()
  await phone.goto(url)
  await expect(phone.getByText('Your number is')).toBeVisible()
  // The page of a visitor who waits loads itself again and again.
  const width = (): Promise<number> =>
    phone.evaluate(() => document.documentElement.scrollWidth).catch(() => Number.NaN)
  await expect.poll(width).toBeLessThanOrEqual(360)
  await answer(tenant, false)
  await expect(phone.getByRole('heading')).toHaveText('Not let in')
  await context.close()
})

test('the landing page lists who waits, and answers', async ({ relay, visitor: owner, browser }) => {
  await owner.setViewportSize({ width: 360, height: 640 })
  await owner.goto(relay.url)
  await owner.getByText('Options').click()
  await owner.getByLabel('Ask me about each visitor').check()
  await owner.getByRole('button', { name: 'Publish' }).click()
  await expect(owner.locator('.publish .state')).toHaveText('online')
  await expect(owner.getByText('Nobody is waiting')).toBeVisible()
  const url = (await owner.locator('.address a').textContent()) ?? ''
  const context = await browser.newContext()
  const guest = await context.newPage()
  await guest.goto(url)
  const code = (await guest.locator('main strong').textContent()) ?? ''
  await expect(owner.locator('.knocks li')).toContainText(`${code} `)
  expect(await owner.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await owner.getByRole('button', { name: `Let in: ${code}` }).click()
  await expect(guest.locator('body')).toContainText('Hello')
  await expect(owner.locator('.knocks li')).toHaveCount(0)
  await context.close()
})
