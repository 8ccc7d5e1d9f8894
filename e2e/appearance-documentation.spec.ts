// The documentation looks as in its pictures: `npm run e2e -- appearance --update` makes them anew.
import { buildDocumentation } from '../tools/bundler/documentation.ts'
import { expect, test } from './fixtures.ts'
import { looks } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'

/** With a picture, with code and tables, with the largest table, with a terminal, and what is not there. */
const PAGES = {
  docs: '/docs/',
  'docs-guide': '/docs/guide/publish/',
  'docs-settings': '/docs/operate/settings/',
  'docs-start': '/docs/guide/install/',
  'docs-missing': '/docs/nothing/',
} as const

// A relay sees at its start whether it has the documentation.
test.beforeAll(() => buildDocumentation({ hasReference: false }))

looks('the documentation, and its search', async ({ page, relay }) => {
  for (const [name, path] of Object.entries(PAGES)) {
    await page.goto(relay.url + path)
    await page.waitForLoadState('networkidle')
    await expectLook(page, name)
  }
  await page.goto(`${relay.url}/docs/`)
  await page.waitForLoadState('networkidle')
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('webhooks')
  await expect(page.getByRole('dialog').getByRole('status')).toContainText(/^\d+ pages?$/)
  await expectLook(page, 'docs-search')
})
