// What a check says where name servers disagree, are silent, and where a resolver still has the old value.

import { DnsClient } from '@svc/dns/client'
import { expect, test } from 'vitest'
import {
  type Answering,
  a,
  cname,
  ns,
  soa,
  startFakeServer,
  txt,
} from '../../../dns/test/client/fake-server.ts'
import { checkRecords } from '../../src/domain-records/check-records.ts'
import { wantedRecords } from '../../src/domain-records/wanted-records.ts'

const DOMAIN = 'shop.example.test'
const OWNER = `0x${'a'.repeat(40)}`
const CANONICAL = `demo-${'a'.repeat(40)}.relay.test`
const CAA = '0 issue "ca.test; accounturi=https://ca.test/1; validationmethods=tls-alpn-01"'
const PROOF = txt(`_svc.${DOMAIN}`, `svc-address=${OWNER}`)
const HERE = a(DOMAIN, '192.0.2.1')

type Records = ReturnType<typeof txt>[]

interface World {
  first?: Records
  /** `undefined`: the second server is silent. */
  second?: Records | undefined
  /** In the cache of the resolver. */
  cached?: Records
}

const find = (records: Records, name: string, type: string): Records =>
  records.filter((one) => one.name === name && (one.type === type || one.type === 'CNAME'))

/** `test` has the relay, and delegates to two servers; it is the resolver as well. */
async function clientOf({ first = [], second, cached = [] }: World): Promise<DnsClient> {
  const parent: Answering = (name, type) => {
    if (name === 'test' && type === 'NS') return { answers: [ns('test', 'a.test')] }
    if (name === 'a.test') return { answers: type === 'A' ? [a('a.test', '127.0.0.10')] : [] }
    if (name === CANONICAL) return { answers: type === 'A' ? [a(CANONICAL, '192.0.2.1')] : [] }
    if (name === 'example.test' && type === 'NS')
      return {
        isAuthoritative: false,
        authorities: [ns(name, 'ns1.example.test'), ns(name, 'ns2.example.test')],
        additionals: [a('ns1.example.test', '127.0.0.1'), a('ns2.example.test', '127.0.0.12')],
      }
    const answers = find(cached, name, type)
    return answers.length > 0 ? { answers } : { authorities: [soa('test', 30)] }
  }
  const having =
    (records: Records): Answering =>
    (name, type) => {
      const answers = find(records, name, type)
      return answers.length > 0 ? { answers } : { authorities: [soa('example.test', 30)] }
    }
  const { port } = await startFakeServer('127.0.0.10', parent)
  await startFakeServer('127.0.0.1', having(first), port)
  if (second !== undefined) await startFakeServer('127.0.0.12', having(second), port)
  return new DnsClient({ resolvers: [`127.0.0.10:${port}`], port, timeoutMs: 500 })
}

async function findings(world: World, caa: string[] = []) {
  const client = await clientOf(world)
  const wanted = await wantedRecords({
    domain: DOMAIN,
    owner: OWNER,
    canonical: CANONICAL,
    byName: false,
    caa,
    client,
  })
  return await checkRecords(wanted, client)
}

test('a server that has not got the record yet is named', async () => {
  const [proof, path] = await findings({ first: [PROOF, HERE], second: [PROOF] })
  expect(proof).toMatchObject({ state: 'ok' })
  expect(path).toMatchObject({
    type: 'A',
    state: 'missing',
    message: 'ns2.example.test has no such record',
    servers: [
      { server: 'ns1.example.test', values: ['192.0.2.1'] },
      { server: 'ns2.example.test', values: [] },
    ],
  })
})

test('a silent server is named beside one that has the record', async () => {
  const [proof] = await findings({ first: [PROOF, HERE], second: undefined })
  expect(proof).toMatchObject({
    state: 'ok',
    message: expect.stringMatching(/at ns1\.example\.test; ns2\.example\.test cannot be reached/),
  })
})

test('the cache of a resolver holds an old value for so long', async () => {
  const records = [PROOF, HERE]
  const old = await findings({ first: records, second: records, cached: [a(DOMAIN, '203.0.113.9', 77)] })
  expect(old).toMatchObject([
    { state: 'ok', cached: { values: [], ttl: 30 } },
    { state: 'ok', cached: { values: ['203.0.113.9'], ttl: 77 } },
  ])
  const fresh = await findings({ first: records, second: records, cached: records })
  expect(fresh.map(({ cached }) => cached)).toEqual([undefined, undefined])
})

const caa = (tag: string, value: string, name = DOMAIN, flags = 0): Records[number] =>
  ({ type: 'CAA', name, ttl: 60, data: { flags, tag: tag as 'issue', value } }) as const
const OURS = 'ca.test;accounturi=https://ca.test/1;validationmethods=tls-alpn-01'

async function protection(first: Records, second = first) {
  const all = [PROOF, HERE]
  const world = { first: [...all, ...first], second: [...all, ...second], cached: [...all, ...first] }
  return (await findings(world, [CAA]))[2]
}

test('CAA records have to leave the domain to the account alone', async () => {
  const ours = caa('ISSUE', OURS)
  expect(await protection([])).toMatchObject({ type: 'CAA', state: 'missing' })
  expect(await protection([ours])).toMatchObject({ state: 'ok' })
  const others = [caa('iodef', 'mailto:a@b.test'), caa('issue', ';'), caa('issuewild', 'other.test')]
  expect(await protection([ours, ...others])).toMatchObject({ state: 'ok' })
  expect(await protection([caa('issuewild', OURS)])).toMatchObject({
    state: 'wrong',
    message: expect.stringContaining('no issue property'),
  })
})

test.each<[string, Records[number], string]>([
  ['every account', caa('issue', 'ca.test'), 'every account at ca.test'],
  ['another authority', caa('IsSuE', 'other.test'), 'every account at other.test'],
  ['another account', caa('issue', 'ca.test; accounturi=https://ca.test/2'), 'https://ca.test/2'],
  ['nobody, by a property that is critical', caa('future', 'x', DOMAIN, 128), 'the tag future'],
])('CAA records that leave the domain to %s are wrong', async (_who, other, words) => {
  expect(await protection([caa('issue', OURS), other])).toMatchObject({
    state: 'wrong',
    message: expect.stringContaining(words),
  })
})

test('CAA records of the name above count, and those that one server lacks do not', async () => {
  const above = caa('issue', OURS, 'example.test')
  expect(await protection([above])).toMatchObject({ name: DOMAIN, state: 'ok' })
  expect(await protection([above], [])).toMatchObject({
    state: 'missing',
    message: 'ns2.example.test has no such record',
  })
})

test('a domain that is a CNAME cannot be protected, for the relay sets the records of its target', async () => {
  const records = [PROOF, cname(DOMAIN, CANONICAL)]
  const [, path, caa] = await findings({ first: records, second: records, cached: records }, [CAA])
  expect(path).toMatchObject({ type: 'CNAME', state: 'ok' })
  expect(caa).toMatchObject({ state: 'wrong', message: expect.stringContaining('which the relay sets') })
})
