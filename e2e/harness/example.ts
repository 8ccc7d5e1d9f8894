// An example's page, opened from the relay, with what its console said.
import { type BrowserContext, expect, type Page } from '@playwright/test'

export interface Example {
  page: Page
  /** What the page's console and its uncaught errors said. */
  errors: string[]
  /** Waits until it is online. @returns its URL, without a slash at the end */
  address(): Promise<string>
}

export async function openExample(context: BrowserContext, relayUrl: string, name: string): Promise<Example> {
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${relayUrl}/examples/${name}/`)
  const address = async (): Promise<string> => {
    await expect(page.locator('#state')).toHaveText('online')
    return (await page.locator('#url').textContent()) ?? ''
  }
  return { page, errors, address }
}

/** Opened with a mouse click from the relay's first page, it works there, and runs no inline script. */
export async function expectLinked(page: Page, relayUrl: string, title: string, name: string): Promise<void> {
  expect(await page.locator('script:not([src])').count()).toBe(0)
  await page.goto(relayUrl)
  await page.getByRole('link', { name: title }).click()
  await expect(page).toHaveURL(`${relayUrl}/examples/${name}/`)
  await expect(page.locator('#state')).toHaveText('online')
}

/** Nothing is wider than the screen, and the ground is of the scheme. */
export async function expectFits(page: Page, width: number, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize({ width, height: 844 })
  await page.emulateMedia({ colorScheme })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(ground).toBe(colorScheme === 'dark' ? 'rgb(21, 23, 26)' : 'rgb(246, 245, 242)')
}
