// The page about the CA of a relay on localhost: it offers that CA, its instructions work, and pages of the relay lead there.

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { BrowserContext } from '@playwright/test'
import { chromiumOptions } from '../tools/browser/chromium.ts'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { layoutShift, type OpenedPage, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const test = base.extend<{ context: BrowserContext; authority: OpenedPage }>({
  context: async ({ browser }, use) => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    await use(context)
    await context.close()
  },
  authority: async ({ context, relay }, use) => {
    const opened = await openWeb(context, `${relay.url}/ca`)
    await use(opened)
    expect(opened.errors).toEqual([])
  },
})

const openssl = (...args: string[]): string => execFileSync('openssl', args, { stdio: 'pipe' }).toString()

wholeOnly(test, 'variant')('the landing page leads to it', async ({ context, relay }) => {
  const { page, errors } = await openWeb(context, relay.url)
  await page.getByRole('link', { name: 'Download it, or trust it in your browser' }).click()
  await expect(page).toHaveURL(`${relay.url}/ca`)
  await expect(page).toHaveTitle('Trust this relay · svc')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Trust this relay')
  expect(errors).toEqual([])
})

test('every file that is downloaded is the CA, as OpenSSL reads it', async ({
  authority: { page },
  relay,
}) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-ca-'))
  const expected = openssl('x509', '-in', relay.caFile, '-outform', 'PEM')
  const save = async (link: string, name: string): Promise<string> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: link, exact: true }).click(),
    ])
    expect(download.suggestedFilename()).toBe(name)
    const file = path.join(directory, name)
    await download.saveAs(file)
    return file
  }
  expect(openssl('x509', '-in', await save('PEM', 'svc-ca.pem'))).toBe(expected)
  expect(openssl('x509', '-inform', 'DER', '-in', await save('DER', 'svc-ca.crt'))).toBe(expected)
  const p12 = await save('PKCS #12', 'svc-ca.p12')
  expect(openssl('pkcs12', '-nokeys', '-passin', 'pass:svc', '-in', p12)).toContain(expected)
  const profile = await readFile(await save('Configuration profile', 'svc-ca.mobileconfig'), 'utf8')
  const [, data] = /<data>([^<]+)<\/data>/.exec(profile) ?? []
  expect(new X509Certificate(Buffer.from(`${data}`, 'base64')).toString()).toBe(expected)
  await rm(directory, { recursive: true })
})

wholeOnly(test, 'variant')(
  'it shows the fingerprint that its command shows',
  async ({ authority: { page }, relay }) => {
    const { fingerprint256 } = new X509Certificate(await readFile(relay.caFile))
    await expect(page.locator('.fingerprint')).toHaveText(fingerprint256)
    await page.getByRole('button', { name: 'Copy the command that shows the fingerprint' }).click()
    const command = await page.evaluate(() => navigator.clipboard.readText())
    const cwd = path.dirname(relay.caFile)
    expect(execFileSync('sh', ['-c', command], { cwd }).toString()).toContain(`=${fingerprint256}\n`)
  },
)

wholeOnly(test, 'variant')(
  'its steps for Chromium on Linux work as they are',
  async ({ authority: { page }, relay, playwright }) => {
    const home = await mkdtemp(path.join(tmpdir(), 'svc-e2e-home-'))
    await curl(relay.caFile, '--output', path.join(home, 'svc-ca.pem'), `${relay.url}/ca.pem`)
    await page.getByRole('button', { name: 'Copy the command for Linux' }).first().click()
    const command = await page.evaluate(() => navigator.clipboard.readText())
    execFileSync('sh', ['-c', command], { cwd: home, env: { ...process.env, HOME: home } })
    const browser = await playwright.chromium.launch(chromiumOptions(home))
    const trusting = await browser.newPage()
    await trusting.goto(`${relay.url}/sites`)
    await expect(trusting.getByRole('heading', { level: 1 })).toHaveText('Sites')
    await browser.close()
    await rm(home, { recursive: true })
  },
)

wholeOnly(test, 'variant')(
  'each Copy button copies what it stands beside',
  async ({ authority: { page } }) => {
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
    })
    expect((await expectCopies(page)).length).toBeGreaterThan(3)
  },
)

wholeOnly(test, 'variant')('its ports are those of this relay', async ({ authority: { page }, relay }) => {
  const { port } = new URL(relay.url)
  await expect(page.getByText(`adb reverse tcp:${port} tcp:${port}`)).toBeVisible()
  await expect(page.getByText(`ssh -N -L ${port}:localhost:${port}`)).toBeVisible()
})

wholeOnly(test, 'appearance')(
  'nothing jumps; it fits every width in both themes, and axe-core finds nothing',
  async ({ authority: { page } }, info) => {
    await expect(page.locator('.fingerprint')).toContainText(':')
    expect(await layoutShift(page)).toBeLessThan(0.01)
    await expectFits({ authority: page }, info, WIDTHS_PX)
    await expectAccessible(page)
  },
)
