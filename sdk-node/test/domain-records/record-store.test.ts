// The records of a domain at each DNS provider's API: all are added, once, and those of others stay.

import { DnsClient } from '@svc/dns/client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Dialect, FakeApi } from '../../../dns/test/providers/fakes/fake-api.ts'
import { DIALECTS } from '../../../dns/test/providers/fakes/index.ts'
import { planChanges } from '../../src/domain-records/plan-changes.ts'
import { openRecordStore, type RecordStore } from '../../src/domain-records/record-store.ts'
import type { WantedRecord, WantedRecords } from '../../src/domain-records/wanted-records.ts'

const DOMAIN = 'shop.example.com'
const CANONICAL = `demo-${'1'.repeat(40)}.relay.test`
const PROOF = { type: 'TXT', name: `_svc.${DOMAIN}`, value: `svc-address=0x${'1'.repeat(40)}` } as const
const CAA = '0 issue "letsencrypt.org; accounturi=https://acme.test/1; validationmethods=tls-alpn-01"'
const ADDRESSES: WantedRecord[] = [
  { type: 'A', name: DOMAIN, value: '192.0.2.1' },
  { type: 'A', name: DOMAIN, value: '192.0.2.2' },
  { type: 'AAAA', name: DOMAIN, value: '2001:db8::1' },
]

function wanted(...records: WantedRecord[]): WantedRecords {
  return {
    domain: DOMAIN,
    canonical: CANONICAL,
    addresses: ADDRESSES,
    records: [PROOF, ...records],
    alternative: undefined,
  }
}

async function start(dialect: Dialect): Promise<{ api: FakeApi; open: () => Promise<RecordStore> }> {
  const api = await FakeApi.start(dialect)
  // Google's library reads this variable itself.
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', api.env.GOOGLE_APPLICATION_CREDENTIALS)
  onTestFinished(() => {
    api.close()
    vi.unstubAllEnvs()
  })
  const open = () =>
    openRecordStore({
      provider: dialect.provider,
      domain: DOMAIN,
      env: api.env,
      signal: new AbortController().signal,
      client: new DnsClient({ servers: [] }),
      connection: { baseUrl: api.baseUrl, pauseMs: 0 },
    })
  return { api, open }
}

describe.each(DIALECTS.map((dialect) => [dialect.provider, dialect] as const))('%s', (_, dialect) => {
  test('adds the proof, addresses and CAA, and nothing the second time', async () => {
    const { api, open } = await start(dialect)
    api.zone.add(PROOF.name, 'TXT', '"of-another-program"')
    api.zone.add('www.example.com', 'A', '192.0.2.9')
    const all = wanted(...ADDRESSES, { type: 'CAA', name: DOMAIN, value: CAA })
    const store = await open()
    const plan = await planChanges(all, store)
    expect([plan.add, plan.kept, plan.warnings]).toEqual([all.records, [], []])
    await store.add(plan.add)
    expect(api.zone.data(PROOF.name, 'TXT')).toEqual(['"of-another-program"', `"${PROOF.value}"`])
    expect(api.zone.data(DOMAIN, 'A')).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(api.zone.data(DOMAIN, 'AAAA')).toEqual(['2001:db8::1'])
    expect(api.zone.data(DOMAIN, 'CAA')).toEqual([CAA])
    const { length } = api.changes
    const again = await open()
    expect(await planChanges(all, again)).toMatchObject({ add: [], kept: all.records })
    await again.add(all.records)
    expect(api.changes).toHaveLength(length)
  })

  test('adds a CNAME, and reads it as it was meant', async () => {
    const { api, open } = await start(dialect)
    const named = wanted({ type: 'CNAME', name: DOMAIN, value: CANONICAL })
    const store = await open()
    await store.add((await planChanges(named, store)).add)
    expect(api.zone.data(DOMAIN, 'CNAME')[0]!.replace(/\.$/, '')).toBe(CANONICAL)
    expect(await planChanges(named, await open())).toMatchObject({ add: [], kept: named.records })
    await expect(planChanges(wanted(...ADDRESSES), await open())).rejects.toThrow('give --cname')
  })

  test('says that a token is wrong, without it, and that the account has no such zone', async () => {
    const { api, open } = await start(dialect)
    api.access = 'none'
    const error: unknown = await open().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ fault: 'unauthorized' })
    for (const secret of dialect.secrets) expect(`${error}`).not.toContain(secret)
    api.access = 'whole'
    api.zone.name = 'elsewhere.test'
    await expect(open()).rejects.toMatchObject({ fault: 'wrong_zone' })
  })
})

test('a CAA record of others stays, with a warning', async () => {
  const store: RecordStore = {
    read: async (_, type) => (type === 'CAA' ? ['0 issue "other.example"', '0 iodef "mailto:a@b.test"'] : []),
    add: async () => {},
  }
  const plan = await planChanges(wanted(...ADDRESSES, { type: 'CAA', name: DOMAIN, value: CAA }), store)
  expect(plan.warnings).toEqual([expect.stringContaining('lets every account at other.example issue')])
  expect(plan.add.map(({ type }) => type)).toContain('CAA')
})

test.each([
  ['A', '203.0.113.9'],
  ['AAAA', '2001:db8::9'],
  ['CNAME', 'elsewhere.test'],
  ['TXT', 'svc-address=0x2'],
])('a %s record of others is a conflict, before any change', async (type, value) => {
  const read = async (_: string, asked: string): Promise<string[]> => (asked === type ? [value] : [])
  const store = { read, add: async () => expect.fail('something was changed') }
  await expect(planChanges(wanted(...ADDRESSES), store)).rejects.toMatchObject({
    fault: 'conflict',
    message: expect.stringContaining(`${type} ${value}`),
  })
})
