// The index of the examples: every example has its card there.
import { globSync } from 'node:fs'
import path from 'node:path'
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
