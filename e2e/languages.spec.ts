// The landing page in German and Arabic: by the browser's language or the reader's choice, also from right to left.
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { openWeb, WIDTHS_PX } from './support/relay-page.ts'

const READERS = [
  {
    locale: 'de-AT',
    dir: 'ltr',
    publish: 'Veröffentlichen',
    online: 'online',
    note: 'Hallo aus einem Browser-Tab',
  },
  { locale: 'ar-EG', dir: 'rtl', publish: 'نشر', online: 'متاح', note: 'مرحبًا من تبويب متصفح' },
] as const

for (const { locale, dir, publish, online, note } of READERS)
  (dir === 'rtl' ? test : wholeOnly(test, 'variant'))(
    `a reader with the language ${locale} publishes a note`,
    async ({ browser, relay, visitor }, info) => {
      const context = await browser.newContext({ locale })
      const { page, errors } = await openWeb(context, relay.url)
      await expect(page.locator('html')).toHaveAttribute('lang', locale.slice(0, 2))
      await expect(page.locator('html')).toHaveAttribute('dir', dir)
      await page.getByRole('button', { name: publish, exact: true }).click()
      await expect(page.locator('.publish .state')).toHaveText(online)
      await visitor.goto((await page.locator('.address a').first().textContent()) ?? '')
      await expect(visitor.getByText(note)).toBeVisible()
      await expectAccessible(page)
      await expectFits({ [locale]: page }, info, WIDTHS_PX)
      // The tab that publishes comes first, where the reader begins.
      const [tab, last] = [page.locator('.path > .card').first(), page.locator('.path > .card').last()]
      const [first, end] = [await tab.boundingBox(), await last.boundingBox()]
      expect(first!.x < end!.x).toBe(dir === 'ltr')
      expect(errors).toEqual([])
      await context.close()
    },
  )

test('a choice at the end of the page counts more than the browser, and stays', async ({
  visitor,
  relay,
}) => {
  await visitor.goto(relay.url)
  await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('Your tab is the web server')
  await visitor.getByRole('link', { name: 'Deutsch' }).click()
  await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('Der Tab ist der Webserver')
  await visitor.goto(relay.url)
  await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('Der Tab ist der Webserver')
  await visitor.getByRole('link', { name: 'Verwaltung' }).click()
  await expect(visitor.locator('#content')).toHaveAttribute('lang', 'en')
})
