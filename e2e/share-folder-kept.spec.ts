// The example's switch at a relay with a static cache: the files stay when the page is closed, and go when it is turned off.
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, relayWith } from './fixtures.ts'
import { exampleTest, expectAccessible, expectFits } from './support/example-page.ts'

const share = exampleTest('share-folder').extend({
  relay: relayWith({ STATIC_CACHE_ENABLED: 'true' }),
})

const text = (name: string, content: string) => ({ name, mimeType: '', buffer: Buffer.from(content) })
const SWITCH = 'Keep these files up when I close this page'

/** Turns the switch on. @returns the address of the copy, without a slash at the end */
async function keepFiles(page: Page): Promise<string> {
  await page.getByLabel(SWITCH).check()
  await expect(page.locator('#kept')).toContainText('The relay has the files until')
  return (await page.locator('#kept-url').textContent())!
}

share(
  'files that the relay keeps are there when the page is closed',
  async ({ example: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    await expect(page.locator('#promise')).toContainText('Nothing is uploaded')
    await page.getByLabel('Choose files').setInputFiles([text('a & b.txt', 'hello'), text('.env', 'secret')])
    const kept = await keepFiles(page)
    expect(kept).not.toBe(url)
    await expect(page.locator('#promise')).toContainText('a copy of the files, which it can read')
    expect(await address()).toBe(url)
    await page.getByLabel('Choose files').setInputFiles([text('later.txt', 'there soon')])
    // While the relay does not have the files as they are, the page answers, with a listing of its own.
    await expect
      .poll(async () => String(await curl(relay.caFile, `${kept}/`)))
      .toMatch(/<h1>share-.*later\.txt/s)
    expect(errors).toEqual([])
    await page.close()

    expect(String(await curl(relay.caFile, `${kept}/later.txt`))).toBe('there soon')
    await visitor.goto(kept)
    await expect(visitor.locator('tbody a')).toHaveText(['a & b.txt', 'later.txt'])
    await visitor.getByRole('link', { name: 'a & b.txt' }).click()
    await expect(visitor.locator('body')).toHaveText('hello')
    expect(await status(relay.caFile, `${kept}/.env`)).not.toBe('200')
  },
)

wholeOnly(share, 'variant')(
  'the copy goes when the switch is turned off, and when the site is stopped',
  async ({ example: { page, errors, address }, relay }) => {
    const url = await address()
    await page.getByLabel('Choose files').setInputFiles([text('a.txt', 'hello')])
    const kept = await keepFiles(page)
    await page.getByLabel(SWITCH).uncheck()
    await expect(page.locator('#kept-url')).toBeHidden()
    await expect(page.locator('#promise')).toContainText('Nothing is uploaded')
    expect(await address()).toBe(url)
    expect(String(await curl(relay.caFile, `${url}/a.txt`))).toBe('hello')
    await page.locator('#downloads li').first().waitFor()
    // The canonical address leads to the page again.
    expect(String(await curl(relay.caFile, `${kept}/a.txt`))).toBe('hello')
    await expect(page.locator('#downloads li')).toHaveCount(2)

    await keepFiles(page)
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(page.locator('#state')).toHaveText('closed')
    expect(await status(relay.caFile, `${kept}/a.txt`)).not.toBe('200')
    expect(errors).toEqual([])
  },
)

wholeOnly(share, 'depth')(
  'files that are too large to keep are named, and shared as before',
  async ({ example, relay }) => {
    const { page, address } = example
    const url = await address()
    const buffer = Buffer.alloc(11 * 1024 * 1024)
    await page.getByLabel('Choose files').setInputFiles({ name: 'big.bin', mimeType: '', buffer })
    await page.getByLabel(SWITCH).check()
    await expect(page.locator('#error')).toContainText('"big.bin" has 11534336 bytes; 10485760 are allowed')
    await expect(page.locator('#kept')).toHaveText('The relay does not have the files yet.')
    expect((await curl(relay.caFile, `${url}/big.bin`)).equals(buffer)).toBe(true)
  },
)

wholeOnly(share, 'appearance')(
  'it fits a phone and a desk and passes axe-core with the switch on',
  async ({ example, visitor }, info) => {
    const { page, address } = example
    await address()
    await page.getByLabel('Choose files').setInputFiles([text('a.txt', 'hello')])
    const kept = await keepFiles(page)
    await expectFits({ page }, info)
    await visitor.goto(kept)
    await expectAccessible(page, visitor)
  },
)

async function status(caFile: string, url: string): Promise<string> {
  const args = ['-o', '/dev/null', '-w', '%{http_code}', url]
  // A site that is away ends the handshake.
  return String(await curl(caFile, ...args).catch(() => 'away'))
}
