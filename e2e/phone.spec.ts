// The landing page on a phone: an app that takes what is shared to it, keeps the screen on, has targets for fingers, and whose
// downloads go on where they broke off.

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test as plain } from './fixtures.ts'
import { expectAccessiblePart, expectFits, PHONE_PX } from './support/example-page.ts'
import { keptFiles } from './support/kept-files.ts'
import { layoutShift, openWeb } from './support/relay-page.ts'

/** WCAG 2.2 §2.5.5: CSS pixels of what a finger presses. */
const TARGET_PX = 44
const NARROWEST_PX = 320
const BIG_BYTES: number = 4 * 1024 * 1024
/** Exit code of curl: the time is over. */
const TIMED_OUT = 28

const test = plain.extend<{ phone: Page }>({
  phone: async ({ browser, relay }, use) => {
    const context = await browser.newContext({
      viewport: { width: PHONE_PX, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    const { page, errors } = await openWeb(context, relay.url)
    await use(page)
    expect(errors).toEqual([])
    await context.close()
  },
})

const online = (page: Page) => expect(page.locator('.publish .state')).toHaveText('online')
const photo = (name: string) => ({ name, mimeType: 'image/jpeg', buffer: randomBytes(20_000) })

/** Posts what the share sheet of a phone would: the manifest says how. */
async function share(page: Page, files: ReturnType<typeof photo>[], text = ''): Promise<void> {
  const manifest = await page.evaluate(async () => (await fetch('/manifest.webmanifest')).json())
  const { action, method, enctype, params } = manifest.share_target
  await page.evaluate(
    ({ action, method, enctype, params, text }) => {
      const form = document.createElement('form')
      Object.assign(form, { action, method, enctype, id: 'sheet' })
      form.innerHTML = `<input type="file" multiple name="${params.files[0].name}"><input name="${params.text}">`
      form.querySelectorAll('input')[1]!.value = text
      document.body.append(form)
    },
    { action, method, enctype, params, text },
  )
  await page.locator('#sheet input').first().setInputFiles(files)
  await page.evaluate(() => document.querySelector<HTMLFormElement>('#sheet')!.submit())
  await page.waitForURL(/\/$/)
}

test('a photo that no service worker takes is dropped by the relay, and the page says so', async ({
  phone,
}) => {
  await share(phone, [photo('holiday.jpg')])
  await expect(phone.getByText('the relay, to which it went instead, dropped it unread')).toBeVisible()
  await expectAccessiblePart(phone, '.publish')
})

test('it can be installed, and a photo that is shared to it has a link after one press', async ({
  phone,
  relay,
}) => {
  const session = await phone.context().newCDPSession(phone)
  const { errors } = await session.send('Page.getAppManifest')
  expect(errors).toEqual([])
  // A context of a test is a private window, of which none can install anything.
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
  expect(await phone.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0)

  await phone.evaluate(() => dispatchEvent(new Event('appinstalled')))
  await expect
    .poll(() =>
      phone.evaluate(
        async () => (await navigator.serviceWorker.getRegistration('/share-target/'))?.active?.state,
      ),
    )
    .toBe('activated')
  const [first, second] = [photo('holiday.jpg'), photo('holiday.jpg')]
  await share(phone, [first, second])
  await expect(phone.getByText('holiday.jpg and 1 more was shared to this page')).toBeVisible()
  await expect(phone.locator('.publish .state')).toHaveCount(0)
  await expectAccessiblePart(phone, '.publish')
  await expect(phone.getByRole('button', { name: 'Publish' })).toBeFocused()
  await phone.keyboard.press('Enter')
  await online(phone)
  const url = (await phone.locator('.address a').textContent())!
  expect((await curl(relay.caFile, `${url}/holiday.jpg`)).equals(first.buffer)).toBe(true)
  expect((await curl(relay.caFile, `${url}/holiday%20(2).jpg`)).equals(second.buffer)).toBe(true)

  // The folder is online again at once; what comes later needs a press of its own.
  const later = photo('later.jpg')
  await expect.poll(() => phone.evaluate(keptFiles)).toBe(2)
  await share(phone, [later])
  await online(phone)
  const at = ['-o', '/dev/null', '-w', '%{http_code}', `${url}/later.jpg`]
  expect(String(await curl(relay.caFile, ...at))).toBe('404')
  await phone.getByRole('button', { name: 'Publish it, too' }).tap()
  expect((await curl(relay.caFile, `${url}/later.jpg`)).equals(later.buffer)).toBe(true)
  await phone.getByRole('button', { name: 'Stop' }).tap()

  await share(phone, [], 'Lunch at noon')
  await expect(phone.getByLabel('Text or HTML')).toHaveValue('Lunch at noon')
  await share(phone, [])
  await expect(phone.getByText('What was shared did not arrive')).toBeVisible()
  // The worker sees that one path alone.
  expect(await phone.evaluate(() => navigator.serviceWorker.controller)).toBeNull()
})

test('the screen stays on while the site is online, unless its owner turns that off', async ({ phone }) => {
  await phone.addInitScript(() => {
    const scope = globalThis as { locks?: string[] }
    scope.locks = []
    const { request } = WakeLock.prototype
    WakeLock.prototype.request = async function (this: WakeLock, type) {
      const lock = await request.call(this, type)
      scope.locks?.push('asked')
      lock.addEventListener('release', () => scope.locks?.push('released'))
      return lock
    }
  })
  const locks = () => phone.evaluate(() => (globalThis as { locks?: string[] }).locks)
  await phone.reload()
  await phone.getByRole('button', { name: 'Publish' }).tap()
  await online(phone)
  await expect.poll(locks).toEqual(['asked'])
  const screen = phone.getByLabel('Keep the screen on')
  await screen.uncheck()
  await expect.poll(locks).toEqual(['asked', 'released'])
  await phone.reload()
  await online(phone)
  await expect(screen).not.toBeChecked()
  expect(await locks()).toEqual([])
  await screen.check()
  await expect.poll(locks).toEqual(['asked'])
  await phone.getByRole('button', { name: 'Stop' }).tap()
  await expect.poll(locks).toEqual(['asked', 'released'])
})

test('a download that was cut goes on where it broke off, unless the file is another one by then', async ({
  phone,
  relay,
}, info) => {
  const content = randomBytes(BIG_BYTES)
  const file = { name: 'film.bin', mimeType: '', buffer: content }
  await phone.getByRole('radio', { name: 'Folder' }).check()
  await phone.getByLabel('Choose files').setInputFiles([file])
  await phone.getByRole('button', { name: 'Publish' }).tap()
  await online(phone)
  const url = `${await phone.locator('.address a').textContent()}/film.bin`
  const part = info.outputPath('part')
  const etag = (await curl(relay.caFile, '-I', url)).toString().match(/^etag: (.*)\r$/im)![1]!
  const cut = curl(relay.caFile, '--limit-rate', '1M', '--max-time', '2', '-o', part, url)
  await expect(cut).rejects.toThrow(`(${TIMED_OUT})`)
  const { length } = await readFile(part)
  expect(length).toBeGreaterThan(0)
  expect(length).toBeLessThan(BIG_BYTES)
  await curl(relay.caFile, '-C', '-', '-H', `If-Range: ${etag}`, '-o', part, url)
  expect((await readFile(part)).equals(content)).toBe(true)

  // Another file has another tag: what is asked to go on gets the whole.
  const other = randomBytes(BIG_BYTES - 1)
  await phone.getByLabel('Choose files').setInputFiles([{ ...file, buffer: other }])
  const whole = await curl(relay.caFile, '-i', '-r', '1000000-', '-H', `If-Range: ${etag}`, url)
  expect(whole.toString('latin1')).toMatch(/^HTTP\/\S+ 200/)
  expect(whole.subarray(-other.length).equals(other)).toBe(true)
})

wholeOnly(test, 'appearance')(
  'what a finger presses has 44 pixels, nothing is wider than 320, and nothing jumps',
  async ({ phone }, info) => {
    expect(await layoutShift(phone)).toBeLessThan(0.01)
    const small = () => phone.evaluate(smallTargets, TARGET_PX)
    expect(await small()).toEqual([])
    await phone.getByText('Options').tap()
    await phone.getByRole('radio', { name: 'Folder' }).check()
    await phone.getByLabel('Choose files').setInputFiles([photo('holiday.jpg')])
    expect(await small()).toEqual([])
    await expectFits({ form: phone }, info, [NARROWEST_PX, PHONE_PX])
    await phone.getByRole('button', { name: 'Publish' }).tap()
    await online(phone)
    await expect(phone.getByLabel('Keep the screen on')).toBeVisible()
    expect(await small()).toEqual([])
    await expectFits({ folder: phone }, info, [NARROWEST_PX, PHONE_PX])
    await phone.getByRole('button', { name: 'Stop' }).tap()
    for (const kind of ['Webhooks', 'Chat', 'Tools']) {
      await phone.getByRole('radio', { name: kind }).check()
      await phone.getByRole('button', { name: 'Publish' }).tap()
      await online(phone)
      await expectFits({ [kind]: phone }, info, [NARROWEST_PX, PHONE_PX])
      await phone.getByRole('button', { name: 'Stop', exact: true }).tap()
    }
    for (const way of ['svc', 'MCP']) {
      await phone.getByRole('tab', { name: new RegExp(`^${way}$`) }).tap()
      await expect(phone.getByRole('tabpanel').locator('pre')).toBeVisible()
      expect(await small()).toEqual([])
      await expectFits({ [way]: phone }, info, [NARROWEST_PX, PHONE_PX])
    }
  },
)

/** Runs in the page. Links within sentences have the height of their lines. */
function smallTargets(px: number): string[] {
  const all = [...document.querySelectorAll<HTMLElement>('a, button, input, select, textarea, summary')]
  const placeOf = (element: HTMLElement): HTMLElement =>
    element.closest('label')?.contains(element) ? element.closest('label')! : element
  const isInSentence = (element: HTMLElement): boolean =>
    element.matches('p.quiet > *, .address a, .share a') &&
    getComputedStyle(element).display.startsWith('inline')
  return all
    .filter((element) => element.checkVisibility() && !isInSentence(element) && !element.matches('.skip'))
    .filter((element) => Math.round(placeOf(element).getBoundingClientRect().height) < px)
    .map(
      (element) => `${element.outerHTML.slice(0, 100)}: ${placeOf(element).getBoundingClientRect().height}`,
    )
}
