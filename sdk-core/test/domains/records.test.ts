// The records that the owner of a domain is asked to set: the proof is the site's, whatever its relay says.

import { afterEach, expect, it } from 'vitest'
import type { RelayClient } from '../../src/control/relay-client.ts'
import { SiteDomains } from '../../src/domains/site-domains.ts'

const DOMAIN = 'shop.example.org'
const ADDRESS = `0x${'aB'.repeat(20)}`
const PROOF = { type: 'TXT', name: `_svc.${DOMAIN}`, value: `svc-address=${ADDRESS.toLowerCase()}` }

let domains: SiteDomains
afterEach(() => domains.stop())

/** @param answer what the relay says of the domain */
function recordsAt(answer: object): readonly object[] {
  domains = new SiteDomains({
    names: [DOMAIN],
    brought: new Map(),
    ordered: undefined,
    askCaa: undefined,
    crypto: undefined,
    changed: () => {},
    onError: () => {},
  })
  domains.ownedBy(ADDRESS)
  const client = {
    origin: 'https://relay.test',
    clock: { now: Date.now() },
    call: () => new Promise(() => {}),
  } as unknown as RelayClient
  const lease = { accessToken: 'token', extensions: new Set(['custom_domains']) }
  domains.granted(client, { ...lease, domains: [{ domain: DOMAIN, ...answer }] })
  return domains.list(true)[0]!.dns.records
}

it('gives the domain to the identity of the site, and to none that the relay names', () => {
  const address = { type: 'A', name: DOMAIN, value: '192.0.2.1' }
  const another = { ...PROOF, value: `svc-address=0x${'1'.repeat(40)}` }
  expect(recordsAt({ state: 'pending', records: [another, address] })).toEqual([PROOF, address])
  expect(recordsAt({ state: 'active', records: [address, another] })).toEqual([PROOF, address])
})

it('asks for nothing at a relay that refuses the domain', () => {
  expect(recordsAt({ state: 'refused', reason: 'no' })).toEqual([])
})
