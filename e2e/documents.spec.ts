// The documents that the relay and the SDKs write themselves, each with its own policy: they fit the smallest screen, pass axe-core,
// and load nothing.

import { expect, test } from './fixtures.ts'
import { documents, openDocument } from './support/documents.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'

const WIDTHS_PX = [320, 1440]

test('documents fit the smallest screen, pass axe-core and keep to their policy', async ({
  browser,
}, info) => {
  const page = await browser.newPage()
  for (const [name, answer] of Object.entries(await documents())) {
    expect(await openDocument(page, answer), name).toEqual([])
    expect(await page.title(), name).not.toBe('')
    await expect(page.locator('html'), name).toHaveAttribute('lang', 'en')
    await expect(page.locator('h1'), name).toHaveCount(1)
    await expectFits({ [name]: page }, info, WIDTHS_PX)
    await expectAccessible(page)
    await page.unrouteAll()
  }
  await page.close()
})
