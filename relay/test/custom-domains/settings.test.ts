// The settings of custom domains, what `svc-relay check` says about them, and the records that the relay names.

import { DnsClient } from '@svc/dns/client'
import { afterEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import { Lease } from '../../src/core/lease/lease.ts'
import { checkCustomDomains } from '../../src/features/custom-domains/check.ts'
import { pathProblem, recordsOf } from '../../src/features/custom-domains/path.ts'
import { RelayAddresses } from '../../src/features/custom-domains/relay-addresses.ts'
import { readSettings, type Settings } from '../../src/index.ts'

const SHOP = 'shop.example.test'
const ADDRESS = `0x${'a'.repeat(40)}`
const CANONICAL = `demo-${'a'.repeat(40)}.relay.test`

const servers: DnsServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function dnsServer(records: Record<string, readonly string[]> = {}): Promise<DnsServer> {
  const server = await startDnsServer(records)
  servers.push(server)
  return server
}

const read = (env: Record<string, string>): Settings =>
  readSettings({ SVC_URL: 'https://relay.localhost', ...env })

describe('settings', () => {
  test.each<[string, string[]]>([
    ['192.0.2.1', ['192.0.2.1']],
    ['192.0.2.1:5353, [2001:db8::1]:53,2001:db8::2', ['192.0.2.1:5353', '[2001:db8::1]:53', '2001:db8::2']],
  ])('CUSTOM_DOMAIN_RESOLVERS=%s', (value, resolvers) => {
    const { customDomains } = read({ CUSTOM_DOMAIN_RESOLVERS: value })
    expect(customDomains).toEqual({ isEnabled: true, resolvers })
  })

  test.each(['resolver.example', '192.0.2.1:0', '192.0.2.1:70000', '', ',', '1.1.1.1,'].filter(Boolean))(
    'refuse CUSTOM_DOMAIN_RESOLVERS=%s',
    (value) => expect(() => read({ CUSTOM_DOMAIN_RESOLVERS: value })).toThrow('neither ADDRESS nor'),
  )

  test('refuse more than four resolvers', () => {
    const value = Array(5).fill('192.0.2.1').join(',')
    expect(() => read({ CUSTOM_DOMAIN_RESOLVERS: value })).toThrow('more than 4')
  })
})

describe('svc-relay check', () => {
  test('says whether they are on, and what is asked', async () => {
    expect(await checkCustomDomains(read({ CUSTOM_DOMAINS: 'false' }))).toMatchObject([{ status: 'off' }])
    expect(await checkCustomDomains(read({}))).toMatchObject([
      { status: 'ok', message: expect.stringContaining('the name servers of each domain') },
    ])
  })

  test('asks the resolvers for the root', async () => {
    const { port, records } = await dnsServer()
    const settings = read({ CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${port}` })
    expect(await checkCustomDomains(settings)).toMatchObject([
      { status: 'warning', message: expect.stringContaining('did not name the root servers') },
    ])
    records.set(' NS', ['a.root-servers.net'])
    expect(await checkCustomDomains(settings)).toMatchObject([{ status: 'ok' }])
  })
})

describe('the way to the relay', () => {
  const lease = new Lease({
    identity: { name: 'demo', address: ADDRESS },
    hostname: 'demo.relay.test',
    canonicalHostname: CANONICAL,
    metadata: {},
    ttlS: 60,
    firstSeenAt: 0,
    clientIp: '198.51.100.1',
    reportedIp: undefined,
  })
  const known = { ipv4: ['192.0.2.1', '192.0.2.2'], ipv6: ['2001:db8::1'] }

  test.each<[string, Record<string, readonly string[]>, string | undefined]>([
    ['an address of the relay', { [`${SHOP} A`]: ['192.0.2.2'] }, undefined],
    ['an IPv6 address of the relay', { [`${SHOP} AAAA`]: ['2001:db8::1'] }, undefined],
    ['the canonical hostname', { [`${SHOP} CNAME`]: [CANONICAL] }, undefined],
    ['the root host, in another case', { [`${SHOP} CNAME`]: ['RELAY.test'] }, undefined],
    ['an alias of it', { [`${SHOP} CNAME`]: ['cdn.test'], 'cdn.test CNAME': ['demo.relay.test'] }, undefined],
    [
      'an alias with its address',
      { [`${SHOP} CNAME`]: ['cdn.test'], 'cdn.test A': ['192.0.2.1'] },
      undefined,
    ],
    ['another address', { [`${SHOP} A`]: ['203.0.113.9'] }, 'it leads to 203.0.113.9, and not'],
    [
      'a name that only the resolvers of the operator know',
      { [`${SHOP} CNAME`]: ['intranet.corp'], 'intranet.corp A': ['10.0.0.5'] },
      'it leads to no public address, and not',
    ],
    ['another site of the relay', { [`${SHOP} CNAME`]: ['other.relay.test'] }, 'neither a CNAME record that'],
    ['nothing', {}, 'neither a CNAME record that'],
  ])('%s', async (_what, records, problem) => {
    const { port } = await dnsServer(records)
    const client = new DnsClient({ servers: [`127.0.0.1:${port}`] })
    const mayTell = (address: string): boolean => !address.startsWith('10.')
    const found = await pathProblem(client, SHOP, { lease, rootHost: 'relay.test', known, mayTell })
    if (problem === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(problem)
  })

  test('records name addresses before the alias, which an apex cannot have', () => {
    const proof = { type: 'TXT', name: `_svc.${SHOP}`, value: `svc-address=${ADDRESS}` }
    const addresses = [
      { type: 'A', name: SHOP, value: '192.0.2.1' },
      { type: 'A', name: SHOP, value: '192.0.2.2' },
      { type: 'AAAA', name: SHOP, value: '2001:db8::1' },
    ]
    const alias = { type: 'CNAME', name: SHOP, value: CANONICAL }
    expect(recordsOf(SHOP, { lease, known, isApex: false })).toEqual([proof, ...addresses, alias])
    expect(recordsOf(SHOP, { lease, known, isApex: true })).toEqual([proof, ...addresses])
    const unknown = { ipv4: [], ipv6: [] }
    expect(recordsOf(SHOP, { lease, known: unknown, isApex: true })).toEqual([proof, alias])
  })

  test('addresses are those of the settings, or those to which its names resolve', async () => {
    const { port, questions } = await dnsServer({ [`${CANONICAL} A`]: ['192.0.2.7'] })
    const client = new DnsClient({ servers: [`127.0.0.1:${port}`] })
    const none = { ipv4: undefined, ipv6: undefined }
    const found = new RelayAddresses({ publicAddresses: none, rootHost: 'relay.test' })
    expect(found.known).toEqual({ ipv4: [], ipv6: [] })
    expect(await found.find(client, CANONICAL)).toEqual({ ipv4: ['192.0.2.7'], ipv6: [] })
    const { length } = questions
    await found.find(client, CANONICAL)
    expect(questions).toHaveLength(length)
    const set = new RelayAddresses({
      publicAddresses: { ipv4: ['192.0.2.8'], ipv6: [] },
      rootHost: 'relay.test',
    })
    expect(await set.find(client, CANONICAL)).toEqual({ ipv4: ['192.0.2.8'], ipv6: [] })
    const local = new RelayAddresses({ publicAddresses: none, rootHost: 'relay.localhost' })
    expect(local.known).toEqual({ ipv4: ['127.0.0.1'], ipv6: ['::1'] })
  })
})
