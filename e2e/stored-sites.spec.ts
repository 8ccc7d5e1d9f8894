// The administration's card of stored sites: what the relay stores, of whom and until when, and the button that bans a site.

import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { publish, type Site } from '@svc/sdk-node'
import { curl } from '../tools/programs/curl.ts'
import { FIXTURE_MACHINES } from '../tools/relay/fixture-relay.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect, relayWith } from './fixtures.ts'
import { confirmBan, logIn, openSection } from './support/administration.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { look, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const HTML = '<h1>stored</h1>'
/** The text with which curl says that the server ended the handshake with an alert. */
const NO_HANDSHAKE = /curl: \((35|56)\)/

const test = base.extend({
  relay: relayWith({ ADMIN_TOKEN, STATIC_CACHE_ENABLED: 'true' }),
})

/** Publishes a site, and waits until the relay has its files. */
async function publishFiles({ url, caFile }: TestRelay, name: string): Promise<Site> {
  const site = await publish({
    relay: url,
    name,
    ca: await readFile(caFile, 'utf8'),
    identity: randomBytes(32),
    fetch: () => new Response('live'),
    cache: { files: { 'index.html': HTML, 'style.css': 'h1 { color: teal }' }, ttl: 3600 },
  })
  await expect.poll(() => site.cache?.present).toBe(true)
  return site
}

wholeOnly(test, 'variant')(
  'says what is stored, and a ban removes it: the hostname refuses, and the files are gone',
  async ({ context, relay }, info) => {
    const { page, errors } = await openWeb(context, `${relay.url}/admin`)
    await logIn(page, ADMIN_TOKEN)
    await openSection(page, 'Cache')
    const card = page.getByRole('region', { name: 'Stored sites' })
    await expect(card).toContainText('No files are stored.')

    const there = await publishFiles(relay, 'there')
    const left = await publishFiles(relay, 'left')
    await left.close()
    await look(page)
    const lineOf = ({ canonicalUrl }: Site) =>
      card.getByRole('listitem').filter({ hasText: new URL(canonicalUrl).hostname })
    await expect(lineOf(there)).toContainText(/2 files, .* · has a lease · ends /)
    await expect(lineOf(left)).toContainText(/2 files, .* · has no lease · ends in /)
    await expectFits({ stored: page }, info, WIDTHS_PX)
    await expectAccessible(page)

    const visit = ({ canonicalUrl }: Site): Promise<string> =>
      curl(relay.caFile, canonicalUrl).then(String, String)
    const snapshots = (): Promise<string[]> =>
      readdir(path.join(path.dirname(relay.caFile), 'static-cache/snapshots'))
    /** Of several machines another one may have the files. */
    const expectStored = async (count: number): Promise<void> => {
      if (FIXTURE_MACHINES === 1) await expect.poll(snapshots).toHaveLength(count)
    }
    for (const site of [there, left]) expect(await visit(site)).toBe(HTML)
    await expectStored(2)

    await lineOf(left)
      .getByRole('button', { name: /^Ban: left:0x/ })
      .click()
    const question = page.getByRole('dialog', { name: /^Ban left:0x/ })
    await expect(question).toContainText('removes its stored files at once')
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await visit(left)).toBe(HTML)
    await lineOf(left)
      .getByRole('button', { name: /^Ban: left:0x/ })
      .press('Enter')
    await confirmBan(page)
    await expect.poll(() => visit(left)).toMatch(NO_HANDSHAKE)
    await expectStored(1)
    await expect(lineOf(left)).toHaveCount(0)

    // A site that is there is closed as well.
    await lineOf(there)
      .getByRole('button', { name: /^Ban: there:0x/ })
      .click()
    await confirmBan(page)
    await expect.poll(() => visit(there)).toMatch(NO_HANDSHAKE)
    await expectStored(0)
    await expect(card).toContainText('No files are stored.')
    await there.close()
    expect(errors).toEqual([])
  },
)
