// People see ENS names and the relay's own name server: a badge at the list of sites, and the DS record in the administration.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Browser, expect, test } from '@playwright/test'
import { createCa, createLeaf } from '../relay/src/certificates/development-ca.ts'
import { chromiumOptions, createHome, type Home } from '../tools/browser/chromium.ts'
import { freePort } from '../tools/network/free-port.ts'
import { type RelayProcess, startRelay } from '../tools/relay/process.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { openWeb, WIDTHS_PX } from './support/relay-page.ts'

const HOST = 'relay.test'
const ADMIN_TOKEN = 'a-long-random-value'

let directory: string
let url: string
let relay: RelayProcess
let home: Home
let browser: Browser

test.beforeAll(async ({ playwright }) => {
  directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-ens-'))
  const authority = createCa(HOST)
  const leaf = createLeaf(authority, HOST)
  await writeFile(path.join(directory, 'fullchain.pem'), leaf.chain)
  await writeFile(path.join(directory, 'privatekey.pem'), leaf.key, { mode: 0o600 })
  const caFile = path.join(directory, 'root.pem')
  await writeFile(caFile, authority.certificate)
  url = `https://${HOST}:${await freePort()}`
  const env = {
    SVC_URL: url,
    IDENTITY_PATH: directory,
    ADMIN_TOKEN,
    ENS_GASLESS_ENABLED: 'true',
    PUBLIC_IPS: '127.0.0.1',
    DNS_ADDR: `127.0.0.1:${await freePort()}`,
  }
  relay = await startRelay({ env })
  home = await createHome(caFile)
  const options = chromiumOptions(home.path)
  const rules = `--host-resolver-rules=MAP ${HOST} 127.0.0.1`
  browser = await playwright.chromium.launch({ ...options, args: [...(options.args ?? []), rules] })
})
test.afterAll(async () => {
  await browser?.close()
  await relay?.stop()
  await home?.remove()
  await rm(directory, { recursive: true })
})

// biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
test('the list of sites has a badge', async ({}, info) => {
  const context = await browser.newContext()
  const { page, errors } = await openWeb(context, `${url}/sites`)
  await expect(page.getByRole('heading', { name: 'Sites ENS names' })).toBeVisible()
  await expectAccessible(page)
  await expectFits({ ens: page }, info, WIDTHS_PX)
  expect(errors).toEqual([])
  await context.close()
})

// biome-ignore lint/correctness/noEmptyPattern: as above
test('the administration has the DS record, with what to do with it', async ({}, info) => {
  const context = await browser.newContext()
  const { page, errors } = await openWeb(context, `${url}/admin`)
  const answer = await page.evaluate(async () => (await (await fetch('/sdk/domain')).json()).data.ens)
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Log in' }).click()
  const card = page.getByRole('region', { name: 'DNS' })
  await expect(card.getByText(answer.ds_record)).toBeVisible()
  await expect(card).toContainText(`needs the name servers ns1.${HOST} and ns2.${HOST}`)
  await expect(card).toContainText('embedded')
  await expect(card).toContainText('pending')
  await expect(card).toContainText(answer.address)
  await expect(card.getByRole('button', { name: 'Copy the DS record' })).toBeVisible()
  await expectAccessible(page)
  await expectFits({ 'dns-card': page }, info, WIDTHS_PX)
  expect(errors).toEqual([])
  await context.close()
})
