// What a site believes of the records that a relay asks its owner to set.

import { expect, it } from 'vitest'
import type { RelayClient } from '../../src/control/relay-client.ts'
import { RelayReports } from '../../src/domains/relay-reports.ts'

const DOMAIN = 'shop.example.org'
const ADDRESS = `0x${'a'.repeat(40)}`

function recordsOf(records: unknown): readonly object[] {
  const reports = new RelayReports(() => {})
  const client = { origin: 'https://relay.test' } as RelayClient
  const domains = [{ domain: DOMAIN, state: 'active', records }]
  const lease = { accessToken: 'token', extensions: new Set(['custom_domains']), domains }
  reports.granted(client, lease, [DOMAIN], new AbortController().signal)
  return reports.of(DOMAIN).records
}

it('shows the records that lead a domain to the relay', () => {
  const records = [
    { type: 'A', name: DOMAIN, value: '192.0.2.1' },
    { type: 'AAAA', name: DOMAIN, value: '2001:db8::1' },
    { type: 'CNAME', name: DOMAIN, value: 'demo-aaaa.relay.test' },
  ]
  expect(recordsOf(records)).toEqual(records)
})

it.each<[string, unknown]>([
  [
    'the proof of an owner, which the site knows itself',
    { type: 'TXT', name: `_svc.${DOMAIN}`, value: `svc-address=${ADDRESS}` },
  ],
  ['a proof for an authority', { type: 'TXT', name: `_acme-challenge.${DOMAIN}`, value: 'x'.repeat(43) }],
  ['its delegation', { type: 'CNAME', name: `_acme-challenge.${DOMAIN}`, value: 'relay.test' }],
  ['a claim to the name above', { type: 'TXT', name: '_svc.example.org', value: `svc-address=${ADDRESS}` }],
  ['an address of another name', { type: 'A', name: 'example.org', value: '192.0.2.1' }],
  [
    'a text in place of the claim',
    { type: 'TXT', name: `_svc.${DOMAIN}`, value: 'google-site-verification=1' },
  ],
  ['a value of two lines', { type: 'A', name: DOMAIN, value: '192.0.2.1\n_acme-challenge TXT x' }],
  ['a CAA record', { type: 'CAA', name: DOMAIN, value: '0 issue "relay.test"' }],
  ['a type that objects have', { type: 'constructor', name: DOMAIN, value: '' }],
  ['what is no record', null],
])('does not ask the owner for %s', (_what, record) => {
  expect(recordsOf([record])).toEqual([])
})
