// Whether a site still says that a domain is protected when its relay no longer says that it leads here.

import { afterEach, expect, it } from 'vitest'
import { type DomainSite, domainSite } from '../support/domain-site.ts'
import { memoryStore } from '../support/domain-store.ts'

const ACCOUNT = 'https://acme.test/account/1'
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const NAMES = ['newNonce', 'newAccount', 'newOrder']
const directory = {
  ...Object.fromEntries(NAMES.map((name) => [name, `https://acme.test/${name}`])),
  meta: { caaIdentities: ['acme.test'] },
}

let site: DomainSite | undefined
afterEach(() => site?.stop())

it('looks at the CAA records again, whatever the relay says of the domain, and soon while it is not protected', async () => {
  const store = memoryStore()
  await (await store.load('acme-account@acme.test')).save(JSON.stringify({ account: ACCOUNT }))
  let issue: string[] | undefined = [`acme.test; accounturi=${ACCOUNT}`]
  let now = Date.now()
  site = domainSite({
    names: ['shop.example.org'],
    directory: 'https://acme.test/directory',
    fetch: async (url) => Response.json(url.endsWith('/directory') ? directory : {}),
    store,
    askCaa: async () => ({ isAlias: false, issue }),
    now: () => now,
  })
  site.granted()
  await site.until((domain) => domain.protected)
  issue = undefined
  now += HOUR_MS
  site.granted('pending')
  const { unprotected } = await site.until((domain) => !domain.protected)
  expect(unprotected).toContain('no CAA record')
  // The owner mends it.
  issue = [`acme.test; accounturi=${ACCOUNT}`]
  now += MINUTE_MS
  site.granted('pending')
  await site.until((domain) => domain.protected)
})
