// The index of the examples: every example has its card there.
import { globSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'

test('it leads to every example, fits and passes axe-core', async ({ relay, visitor }, info) => {
  await visitor.goto(`${relay.url}/examples/`)
  const links = visitor.locator('h2 a')
  const targets = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).pathname))
  const examples = globSync('*/index.html', { cwd: path.join(await buildRelayPages(), 'examples') })
  expect(targets.toSorted()).toEqual(examples.map((name) => `/examples/${path.dirname(name)}/`).toSorted())
  await expectFits({ index: visitor }, info)
  await expectAccessible(visitor)
})

test('each example leads to its source, which fits and passes axe-core', async ({ relay, visitor }, info) => {
  const examples = globSync('*/index.html', { cwd: path.join(await buildRelayPages(), 'examples') })
  await visitor.goto(`${relay.url}/examples/`)
  for (const name of examples) {
    const page = `${relay.url}/examples/${path.dirname(name)}/`
    const { status, text } = await textOf(visitor, page)
    expect(text, page).toContain(`href="${new URL('source/', page).pathname}"`)
    expect([status, (await textOf(visitor, `${page}source/`)).status], page).toEqual([200, 200])
  }
  await visitor.goto(`${relay.url}/examples/chat/source/`)
  await expect(visitor).toHaveTitle('Source of Chat · svc')
  await expect(visitor.locator('pre').first()).toBeVisible()
  await expectFits({ source: visitor }, info, [320, 1440])
  await expectAccessible(visitor)
  await visitor.getByRole('link', { name: 'See it run' }).click()
  await expect(visitor).toHaveURL(`${relay.url}/examples/chat/`)
})

/** Asks as a page of the relay does, which trusts it. */
async function textOf(page: Page, url: string): Promise<{ status: number; text: string }> {
  return page.evaluate(async (url) => {
    const response = await fetch(url)
    return { status: response.status, text: await response.text() }
  }, url)
}
