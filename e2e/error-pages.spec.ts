// An error of a site in a tab, and an address of the relay's API: documents in Chromium, lines and JSON for curl.

import { curl } from '../tools/programs/curl.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './support/example-page.ts'

const SECRET = 'what only the owner learns'

test('a handler that throws is a page to a person, and a line to a program', async ({
  tenant,
  relay,
  visitor,
}) => {
  const url = await tenant.evaluate(
    async ({ relay, secret }) => {
      const site = await svc.publish({
        relay,
        fetch: () => {
          throw new Error(secret)
        },
      })
      return site.url
    },
    { relay: relay.url, secret: SECRET },
  )
  const answer = await visitor.goto(url)
  expect([answer?.status(), await answer?.headerValue('cache-control')]).toEqual([500, 'no-store'])
  await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('This site could not answer')
  await expect(visitor).toHaveTitle('This site could not answer')
  await expect(visitor.locator('body')).not.toContainText(SECRET)
  await expectAccessible(visitor)
  const script = ['--header', 'Accept: text/html', '--header', 'Sec-Fetch-Mode: cors']
  expect(String(await curl(relay.caFile, ...script, url))).toBe('Internal Server Error')
  for (const version of ['--http1.1', '--http2'])
    expect(String(await curl(relay.caFile, version, url))).toBe('Internal Server Error')
})

test('an address for programs says so to people', async ({ relay, visitor }) => {
  const answer = await visitor.goto(`${relay.url}/sdk/register`)
  expect(answer?.status()).toBe(405)
  await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('This address is for programs')
  await expectAccessible(visitor)
  expect(JSON.parse(String(await curl(relay.caFile, `${relay.url}/sdk/register`)))).toMatchObject({
    ok: false,
  })
})
