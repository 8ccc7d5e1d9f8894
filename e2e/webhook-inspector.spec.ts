// The example's journey: a webhook comes, is shown, repeated, and taken along as a command that works.
import { execFileSync } from 'node:child_process'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectAccessible, expectFits, expectLinked } from './support/example-page.ts'
import { headingOf, requestsIn, saying } from './support/inspector-page.ts'

const hook = exampleTest('webhook-inspector')
const JSON_TYPE = 'Content-Type: application/json'

hook(
  'a webhook is listed and shown in full, as text',
  async ({ example: { page, errors, address }, relay }) => {
    const url = await address()
    const body = JSON.stringify({ html: '<img src=x onerror=alert(1)>' })
    const sent = ['-H', JSON_TYPE, '-H', 'Cookie: a=b', '-d', body, `${url}/hook?x=1`]
    expect(String(await curl(relay.caFile, ...sent))).toBe('Received\n')
    await page.getByRole('button', { name: '200 POST /hook?x=1' }).click()
    await expect(headingOf(page, 'POST /hook?x=1')).toBeVisible()
    const shown = page.getByRole('tabpanel')
    await expect(shown).toContainText(/{\s+"html": "<img src=x onerror=alert\(1\)>"\s+}/)
    await expect(shown).toContainText('application/json')
    expect(errors).toEqual([])
  },
)

wholeOnly(hook, 'variant')('it answers as it is told', async ({ example: { page, address }, relay }) => {
  const url = await address()
  await page.getByLabel('Answer with').selectOption('503')
  const status = await curl(relay.caFile, '-o', '/dev/null', '-w', '%{http_code}', url)
  expect(String(status)).toBe('503')
  await expect(page.getByRole('button', { name: '503 GET /' })).toBeVisible()
})

wholeOnly(hook, 'variant')(
  'replay, and copy as curl',
  async ({ example: { page, errors, address }, relay }) => {
    const url = await address()
    const body = `it's {"a": "$(id)"}`
    await curl(relay.caFile, '-H', JSON_TYPE, '-d', body, `${url}/hook`)
    const requests = requestsIn(page)
    await requests.click()
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await expect(requests).toHaveText([/^200 POST \/hook .* · replay$/, /^200 POST \/hook/])
    await expect(page.getByRole('button', { name: 'Replay of an earlier request' })).toBeVisible()
    await expect(page.getByRole('tabpanel')).toContainText(body)

    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await expect(saying(page, 'Copied curl.')).toBeVisible()
    const command = await page.evaluate(() => navigator.clipboard.readText())
    // The command is run as it is, by a shell; only the CA comes from the environment.
    const env = { ...process.env, CURL_CA_BUNDLE: relay.caFile }
    const options = { env, encoding: 'utf8', timeout: 60_000, stdio: 'pipe' } as const
    expect(execFileSync('sh', ['-c', command], options)).toBe('Received\n')
    await expect(requests).toHaveCount(3)
    await requests.first().click()
    await expect(page.getByRole('tabpanel')).toContainText(body)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Yes, do it' }).click()
    await expect(requests).toHaveCount(0)
    expect(errors).toEqual([])
  },
)

wholeOnly(hook, 'variant')(
  'a body that is too long to keep is shown in part, and not repeated',
  async ({ example: { page, address }, relay }) => {
    const url = await address()
    // Together more than the MiB that is kept.
    const parts = Array.from({ length: 12 }, () => ['-d', 'x'.repeat(100_000)])
    await curl(relay.caFile, ...parts.flat(), url)
    await requestsIn(page).click()
    await expect(page.getByRole('tabpanel')).toContainText('This is its beginning')
    await expect(page.getByRole('button', { name: 'Replay', exact: true })).toBeDisabled()
    await expect(page.getByRole('button', { name: 'Copy as curl' })).toBeDisabled()
  },
)

wholeOnly(hook, 'appearance')(
  'it fits a phone and a desk and passes axe-core; its index leads to it',
  async ({ example: { page, address }, relay }, info) => {
    const url = await address()
    await curl(relay.caFile, '-H', JSON_TYPE, '-d', '{"a":1}', `${url}/${'AnUnbreakablyLongPath'.repeat(8)}`)
    await expect(requestsIn(page)).toHaveCount(1)
    await expectFits({ list: page }, info)
    await requestsIn(page).click()
    await expect(page.getByRole('tabpanel')).toBeVisible()
    await expectFits({ page }, info)
    await expectAccessible(page)
    await expectLinked(page, relay.url, 'Webhook inspector', 'webhook-inspector')
  },
)
