// Whether a foreign key at a custom domain is an interception, or its owner leads the domain elsewhere.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { PlatformSite, SecureStream, SiteDomain } from '@svc/sdk-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  DOMAIN_PROBE_PAUSE_MS,
  DomainProbes,
  STRAYING_MAX_MS,
  STRAYING_VISITS_MAX,
} from '../../src/probe/domain-probes.ts'
import { ForeignKeyError } from '../../src/probe/probe-connection.ts'
import { Probes } from '../../src/probe/self-probe.ts'
import { PRIVATE_KEY_PEM } from '../support/clock-certificates.ts'

const DOMAIN = 'shop.example.org'
const RELAY = '192.0.2.1'
const NAMED = '2001:db8::1'
const KEY: KeyObject = createPublicKey(createPrivateKey(PRIVATE_KEY_PEM))

let now: number
/** Where a foreign key answers; undefined behind a proxy. */
let address: string | undefined
let addresses: Record<string, string[]>
let verdicts: string[]
let isOnline: boolean
/** How a visit ends at which no foreign key answers: by an error, or at the site. */
let outcome: 'foreign' | 'broken' | 'site'

beforeEach(() => {
  now = 1_000_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  addresses = { 'demo.relay.example': [RELAY] }
  verdicts = []
  isOnline = true
  outcome = 'foreign'
})
afterEach(() => {
  vi.restoreAllMocks()
})

function createSite(): { look(): Promise<void> } {
  const site = {
    url: 'https://demo.relay.example',
    state: 'online',
    get domains(): Pick<SiteDomain, 'domain' | 'online' | 'dns'>[] {
      const records = [{ type: 'AAAA' as const, name: DOMAIN, value: NAMED }]
      return [{ domain: DOMAIN, online: isOnline, dns: { state: 'active', reason: undefined, records } }]
    },
  } as unknown as PlatformSite
  const own = new Probes()
  const secured = (): Promise<void> => {
    if (outcome === 'site') return Promise.resolve()
    return Promise.reject(outcome === 'foreign' ? new ForeignKeyError(address) : new Error('refused'))
  }
  const probes = new DomainProbes({
    probes: own,
    visit: () => ({
      secured: secured(),
      broken: new Promise(() => {}),
      exportKeyingMaterial: () => Buffer.alloc(32),
      send: (bytes) => void own.admit(arriving(bytes)),
      close: () => {},
    }),
    keys: async () => new Map([[DOMAIN, KEY]]),
    addressesOf: async (hostname) => addresses[hostname] ?? [],
    judge: (_site, _domain, verdict) => verdicts.push(verdict),
  })
  return {
    look: async () => {
      const { length } = verdicts
      probes.look(site)
      if (isOnline) await vi.waitUntil(() => verdicts.length > length)
    },
  }
}

/** The visit's bytes as they come to the site. */
function arriving(bytes: Uint8Array): SecureStream {
  let left: Uint8Array | undefined = bytes
  const read = async (): Promise<Uint8Array | undefined> => {
    const chunk = left
    left = undefined
    return chunk
  }
  return {
    read,
    end: async () => {},
    exportKeyingMaterial: () => Buffer.alloc(32),
  } as unknown as SecureStream
}

it.each<[string, string | undefined, string, string[]?]>([
  ["the relay's address", RELAY, 'suspected'],
  ['an address that the relay named for the domain, in another spelling', '2001:DB8:0:0::1', 'suspected'],
  ['another address', '192.0.2.9', 'failed'],
  ['an address that nobody knows, where the domain leads to the relay', undefined, 'suspected', [RELAY]],
  ['an address that nobody knows, where the domain leads elsewhere', undefined, 'failed', ['192.0.2.9']],
  ['an address that nobody knows, where nothing can be looked up', undefined, 'failed'],
])('a foreign key at %s', async (_where, at, verdict, found = []) => {
  address = at
  addresses[DOMAIN] = found
  await createSite().look()
  expect(verdicts).toEqual([verdict])
})

it('is suspected when the relay says for hours that a domain leads to it which does not', async () => {
  address = '192.0.2.9'
  const site = createSite()
  await site.look()
  now += STRAYING_MAX_MS - 1
  await site.look()
  now += DOMAIN_PROBE_PAUSE_MS
  await site.look()
  expect(verdicts).toEqual(['failed', 'failed', 'suspected'])
})

it('is not suspected when the relay has said meanwhile that the domain leads elsewhere', async () => {
  address = '192.0.2.9'
  const site = createSite()
  await site.look()
  isOnline = false
  await site.look()
  isOnline = true
  now += STRAYING_MAX_MS + 1
  await site.look()
  expect(verdicts).toEqual(['failed', 'failed'])
})

it('is suspected at last although the relay says now and then that the domain leads elsewhere, and drops some visits', async () => {
  address = '192.0.2.9'
  const site = createSite()
  const visit = async (): Promise<string | undefined> => {
    await site.look()
    now += DOMAIN_PROBE_PAUSE_MS
    return verdicts.at(-1)
  }
  for (let visits = 0; visits < STRAYING_VISITS_MAX; visits += 1) {
    outcome = 'foreign'
    expect(await visit()).toBe('failed')
    isOnline = visits % 2 === 0
    outcome = 'broken'
    await visit()
    isOnline = true
  }
  outcome = 'foreign'
  expect(await visit()).toBe('suspected')
  // The site is found again: the owner has as much time as before.
  outcome = 'site'
  expect(await visit()).toBe('not_seen_from_here')
  outcome = 'foreign'
  expect(await visit()).toBe('failed')
})

it('is suspected when visits between fail, for as long as the relay says that the domain leads to it', async () => {
  address = '192.0.2.9'
  const site = createSite()
  await site.look()
  outcome = 'broken'
  now += STRAYING_MAX_MS / 2
  await site.look()
  outcome = 'foreign'
  now += STRAYING_MAX_MS / 2
  await site.look()
  expect(verdicts).toEqual(['failed', 'failed', 'suspected'])
})
