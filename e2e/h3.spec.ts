// The example's journey: an h3 app as it is, with a middleware, a page, JSON, a parameter and errors.
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectAccessible, expectStrictPolicy, testAppearance } from './support/example-page.ts'

const h3 = exampleTest('h3')

async function add(page: Page, title: string, address: string): Promise<void> {
  await page.getByLabel('Title').fill(title)
  await page.getByLabel('Address', { exact: true }).fill(address)
  await page.getByRole('button', { name: 'Add' }).click()
}

h3(
  'a link is added, followed, counted and removed',
  async ({ example: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    await add(page, 'The <b>relay</b>', `${relay.url}/examples/`)
    const answer = await visitor.goto(url)
    expectStrictPolicy(answer?.headers()['content-security-policy'])
    await visitor.getByRole('link', { name: 'The <b>relay</b>' }).click()
    await expect(visitor).toHaveURL(`${relay.url}/examples/`)
    await expect(page.locator('#links')).toContainText('followed 1×')
    const json = JSON.parse(String(await curl(relay.caFile, `${url}/api/links`)))
    expect(json).toMatchObject([{ path: 'the-b-relay-b', url: `${relay.url}/examples/`, followed: 1 }])
    await page.getByRole('button', { name: 'Remove The <b>relay</b>' }).click()
    const gone = String(await curl(relay.caFile, '-i', `${url}/to/the-b-relay-b`))
    expect(gone).toMatch(/^HTTP\/\S+ 404[\s\S]*There is no such link/)
    expect(errors).toEqual([])
  },
)

wholeOnly(h3, 'depth')('its limits hold', async ({ example: { page, address } }) => {
  await address()
  await add(page, 'Evil', 'javascript:alert(1)')
  await expect(page.locator('#error')).toHaveText('An address begins with https:// or http://.')
  // Escaped it is longer than what the field takes.
  await add(page, 'Long', `https://example.com/${'ü'.repeat(1000)}`)
  await expect(page.locator('#error')).toHaveText('An address has at most 2000 characters.')
  // LINKS_MAX, and one more
  await page.locator('#add').evaluate((form: HTMLFormElement) => {
    const field = (id: string) => form.ownerDocument.getElementById(id) as HTMLInputElement
    for (let i = 0; i < 51; i++) {
      field('title').value = 'Same'
      field('link').value = 'https://example.com'
      form.requestSubmit()
    }
  })
  await expect(page.locator('#error')).toHaveText('There are 50 links already.')
  await expect(page.locator('#links li')).toHaveCount(50)
  await expect(page.locator('#links li').last()).toContainText('/to/same-50')
})

testAppearance(h3, 'h3', 'Links', async ({ page, visitor, url }) => {
  await visitor.goto(url)
  await expectAccessible(visitor)
  await add(page, 'My garden', 'https://example.com/garden')
  await add(page, 'AnUnbreakablyLongTitle'.repeat(3), `https://example.com/${'long'.repeat(40)}`)
  await visitor.reload()
  await expect(visitor.getByRole('link')).toHaveCount(2)
})
