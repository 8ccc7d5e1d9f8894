// The address outlives the page: after a reload, and after the browser was closed, the same URLs are live again.

import path from 'node:path'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, openTenant, test } from './fixtures.ts'

interface Addresses {
  url: string
  canonicalUrl: string
}

/** Runs in the page. */
async function publishAs([relay, name, answer]: readonly [string, string, string]): Promise<Addresses> {
  const fetch = (): Response => new Response(answer)
  const { url, canonicalUrl } = await svc.publish({ relay, name, fetch })
  return { url, canonicalUrl }
}

test('the page is reloaded', async ({ relay, tenant }) => {
  const before = await tenant.evaluate(publishAs, [relay.url, 'reloaded', 'before'] as const)
  expect(String(await curl(relay.caFile, before.url))).toBe('before')
  await tenant.reload()
  const after = await tenant.evaluate(publishAs, [relay.url, 'reloaded', 'after'] as const)
  expect(after).toEqual(before)
  for (const url of [after.url, after.canonicalUrl])
    expect(String(await curl(relay.caFile, url))).toBe('after')
})

wholeOnly(test, 'variant')(
  'the browser is closed and opened again',
  async ({ relay, pageServer, playwright }) => {
    const home = await createHome(relay.caFile)
    const profile = path.join(home.path, 'profile')
    const sessions: Addresses[] = []
    for (const answer of ['first', 'second']) {
      const context = await playwright.chromium.launchPersistentContext(profile, chromiumOptions(home.path))
      const tenant = await openTenant(context, pageServer)
      const site = await tenant.evaluate(publishAs, [relay.url, 'reopened', answer] as const)
      expect(String(await curl(relay.caFile, site.canonicalUrl))).toBe(answer)
      sessions.push(site)
      await context.close()
    }
    expect(sessions[1]).toEqual(sessions[0])
    await home.remove()
  },
)

wholeOnly(test, 'variant')(
  'another browser has another identity, and the name stays with its owner',
  async ({ relay, tenant, visitor, pageServer }) => {
    const owner = await tenant.evaluate(publishAs, [relay.url, 'owned', 'owner'] as const)
    await visitor.goto(pageServer.url)
    const code = await visitor.evaluate(async (relayUrl) => {
      const publishing = svc.publish({ relay: relayUrl, name: 'owned', fetch: () => new Response('thief') })
      return publishing.then(
        () => 'published',
        (error) => error.code,
      )
    }, relay.url)
    expect(code).toBe('hostname_conflict')
    const fallback = await visitor.evaluate(async (relayUrl) => {
      const options = { relay: relayUrl, name: 'owned', allowCanonicalFallback: true }
      return (await svc.publish({ ...options, fetch: () => new Response('beside') })).url
    }, relay.url)
    expect(fallback).not.toBe(owner.canonicalUrl)
    expect(String(await curl(relay.caFile, fallback))).toBe('beside')
    expect(String(await curl(relay.caFile, owner.url))).toBe('owner')
  },
)
