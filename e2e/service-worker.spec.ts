// The example's journey: the site stays while its pages come and go, and shows what happened meanwhile.

import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import {
  exampleTest,
  expectAccessible,
  expectFits,
  expectLinked,
  expectStrictPolicy,
} from './support/example-page.ts'

const board = exampleTest('service-worker')

wholeOnly(board, 'variant')(
  'visitors do not notice that its pages change, nor that the last one is gone',
  async ({ example: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    const worker = page.locator('#worker')
    await expect(worker).toContainText('A service worker answers since')
    const since = await worker.textContent()
    let isOver = false
    const answers: string[] = []
    const visiting = (async () => {
      while (!isOver) answers.push(String(await curl(relay.caFile, url)))
    })()

    await page.getByRole('link', { name: 'Write' }).click()
    await page.getByLabel('A text for everybody').fill('Back at <b>three</b>')
    await page.getByRole('button', { name: 'Put up' }).click()
    await expect(page.locator('#saved')).toHaveText('This is on the board.')
    for (const name of ['Visits', 'The board', 'Write', 'Visits']) {
      await page.getByRole('link', { name, exact: true }).click()
      expect(await address()).toBe(url)
      await expect(worker).toHaveText(since ?? '')
    }
    await expect(page.locator('#visits li').first()).toContainText('GET /')
    await page.goto('about:blank')
    const { length } = answers
    await expect.poll(() => answers.length).toBeGreaterThan(length + 1)
    isOver = true
    await visiting
    expect(answers.filter((answer) => !answer.includes('<h1>Notice board</h1>'))).toEqual([])
    expect(answers.at(-1)).toContain('Back at &#60;b&#62;three&#60;/b&#62;')

    const answer = await visitor.goto(url)
    expectStrictPolicy(answer?.headers()['content-security-policy'])
    await expect(visitor.locator('.box')).toHaveText('Back at <b>three</b>')
    expect(errors).toEqual([])
  },
)

board('it stops, and publishes again under another name', async ({ example: { page, address }, relay }) => {
  const url = await address()
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(page.locator('#state')).toHaveText('closed')
  await expect(curl(relay.caFile, url)).rejects.toThrow('curl: (')
  await page.getByLabel('Name').fill('my-board')
  await page.getByRole('button', { name: 'Publish' }).click()
  expect(await address()).toBe(relay.url.replace('relay.', 'my-board.relay.'))
  expect(String(await curl(relay.caFile, await address()))).toContain('Nothing on the board yet.')
})

wholeOnly(board, 'faults')('its limits hold', async ({ example: { page, address }, relay }) => {
  const url = await address()
  // VISITS_MAX
  await curl(relay.caFile, `${url}/?[1-21]`)
  await page.getByRole('link', { name: 'Visits' }).click()
  await expect(page.locator('#count')).toHaveText('21')
  await expect(page.locator('#visits li')).toHaveCount(20)
  // An empty field is no notice.
  await page.getByRole('link', { name: 'Write' }).click()
  await address()
  await expect(page.locator('#saved')).toBeEmpty()
  // NOTICE_MAX_CHARS, by a page that does not keep to it, and before that page has reached the worker
  await page.addInitScript(() => {
    const { serviceWorker } = navigator
    const register = serviceWorker.register.bind(serviceWorker)
    serviceWorker.register = async (...worker) => {
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return register(...worker)
    }
  })
  await page.reload()
  const field = page.getByLabel('A text for everybody')
  await field.evaluate((element) => element.removeAttribute('maxlength'))
  await field.fill('x'.repeat(2001))
  await page.getByRole('button', { name: 'Put up' }).click()
  const shown = (): Promise<string> => curl(relay.caFile, url).then(String, String)
  await expect.poll(async () => /x{9,}/.exec(await shown())?.[0].length).toBe(2000)
})

wholeOnly(test, 'variant')(
  'without service workers a shared worker serves it',
  async ({ browser, relay }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.addInitScript(() => Object.defineProperty(navigator, 'serviceWorker', { value: undefined }))
    await page.goto(`${relay.url}/examples/service-worker/`)
    const url = page.locator('#url')
    await expect(url).toBeVisible()
    await expect(page.locator('#worker')).toContainText('A shared worker answers')
    const before = (await url.textContent()) ?? ''
    await page.getByRole('link', { name: 'Visits' }).click()
    await expect(page.locator('#state')).toHaveText('online')
    await expect(url).toHaveText(before)
    expect(String(await curl(relay.caFile, before))).toContain('Notice board')
    await context.close()
  },
)

wholeOnly(board, 'appearance')(
  'it fits a phone and a desk and passes axe-core, and so does what visitors see; its index leads to it',
  async ({ example: { page, address }, relay, visitor }, info) => {
    const url = await address()
    await page.getByRole('link', { name: 'Write' }).click()
    await page.getByLabel('A text for everybody').fill('AnUnbreakablyLongWord'.repeat(8))
    await page.getByRole('button', { name: 'Put up' }).click()
    await expect(page.locator('#saved')).toHaveText('This is on the board.')
    await visitor.goto(`${url}/${'a-long-path'.repeat(10)}`)
    await visitor.goto(url)
    for (const name of ['The board', 'Write', 'Visits']) {
      await page.getByRole('link', { name, exact: true }).click()
      await address()
      await expectFits({ [name]: page }, info)
      await expectAccessible(page)
    }
    await expectFits({ visitor }, info)
    await expectAccessible(visitor)
    await expectLinked(page, relay.url, 'Notice board', 'service-worker')
  },
)
