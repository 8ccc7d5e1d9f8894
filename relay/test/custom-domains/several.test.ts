// Custom domains at a relay of several processes, and at one of several machines: all of them lead a domain to the same site.

import type { CustomDomainsResponse, RegisterResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import {
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { prove, reaches } from '../support/domain-visits.ts'
import { newAccount, startTestRelay, type TestClient, type TestRelay } from '../support/relay.ts'

const SHOP = 'shop.example.test'
/** The kernel decides which process gets a connection: each gets one of so many. */
const TRIES = 16

async function stateOf(relay: TestClient, { access_token }: RegisterResponse) {
  const answer = await relay.call('POST', '/sdk/domains', { access_token })
  return (answer.json.data as CustomDomainsResponse).domains[0]!
}

let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(() => dns.close())
afterEach(() => {
  dns.records.clear()
  dns.onQuestion = undefined
})

describe('two processes', () => {
  let relay: TestRelay
  beforeAll(async () => {
    relay = await startTestRelay({ SVC_WORKERS: '2', CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` })
  })
  afterAll(() => relay.close())

  test('lead a domain to the site, until its lease ends or another site proves it', async () => {
    const [before, after] = [newAccount(), newAccount()]
    prove(dns, before, SHOP)
    const old = await relay.register('old', { account: before, domains: [SHOP] })
    expect(await stateOf(relay, old)).toMatchObject({ proven: true })
    for (let index = 0; index < TRIES; index++) expect(await reaches(relay, old, SHOP)).toBe(true)
    const challenge = { ALPNProtocols: ['acme-tls/1'] }
    for (let index = 0; index < TRIES; index++) expect(await reaches(relay, old, SHOP, challenge)).toBe(true)
    prove(dns, after, SHOP)
    const lease = await relay.register('new', { account: after, domains: [SHOP] })
    expect(await stateOf(relay, lease)).toMatchObject({ proven: true })
    // A message to each process is under way.
    await expect.poll(() => reaches(relay, lease, SHOP, { others: [old] })).toBe(true)
    for (let index = 0; index < TRIES; index++)
      expect(await reaches(relay, lease, SHOP, { others: [old] })).toBe(true)
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    for (let index = 0; index < TRIES; index++) expect(await reaches(relay, old, SHOP)).toBe(false)
  })
})

describe.skipIf(whyNoRedis() !== undefined)(`three machines (skipped: ${whyNoRedis()})`, () => {
  let cluster: ClusterRelays
  let a: ClusterRelay
  let b: ClusterRelay
  let c: ClusterRelay
  beforeAll(async () => {
    cluster = await startClusterRelays(3, { CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` })
    ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
  })
  afterAll(() => cluster?.close())
  let account: ReturnType<typeof newAccount>
  beforeEach(() => {
    account = newAccount()
    prove(dns, account, SHOP)
  })

  test('lead a domain to the site, whichever looked it up', async () => {
    const lease = await a.register('demo', { account, domains: [SHOP] })
    expect(await stateOf(a, lease)).toMatchObject({ proven: true })
    for (const at of [a, b, c]) await expect.poll(() => reaches(a, lease, SHOP, { at })).toBe(true)
    const { length } = dns.questions.filter(({ type }) => type === 'TXT')
    // Another machine has the proof, and looks only at the path.
    expect(await stateOf(c, lease)).toMatchObject({ proven: true })
    expect(dns.questions.filter(({ type }) => type === 'TXT')).toHaveLength(length)
    const renewed = await b.call('POST', '/sdk/renew', { access_token: lease.access_token })
    expect(renewed.json.data).toMatchObject({ domains: [{ domain: SHOP, proven: true }] })
    await b.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    for (const at of [a, b, c]) expect(await reaches(a, lease, SHOP, { at }).catch(() => false)).toBe(false)
  })

  test('give a domain whose record changed to its new owner alone, and never to two', async () => {
    const old = await a.register('old', { account, domains: [SHOP] })
    expect(await stateOf(a, old)).toMatchObject({ proven: true })
    const next = newAccount()
    prove(dns, next, SHOP)
    const lease = await b.register('new', { account: next, domains: [SHOP] })
    expect(await stateOf(b, lease)).toMatchObject({ proven: true })
    for (const at of [a, b, c])
      await expect.poll(() => reaches(b, lease, SHOP, { at, others: [old] })).toBe(true)
    expect((await stateOf(a, old)).proven).toBeUndefined()
  })

  test('refuse a look-up that began earlier and ends later, also at the machine that knows nothing yet', async () => {
    const [slow, fast] = [account, newAccount()]
    const old = dns.records.get(`_svc.${SHOP} TXT`)!
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    let isHeld = false
    dns.onQuestion = async ({ name, type }) => {
      if (isHeld || name !== `_svc.${SHOP}` || type !== 'TXT') return undefined
      isHeld = true
      await held
      return old
    }
    const late = await a.register('late', { account: slow, domains: [SHOP] })
    await expect.poll(() => isHeld).toBe(true)
    prove(dns, fast, SHOP)
    const lease = await b.register('early', { account: fast, domains: [SHOP] })
    expect(await stateOf(b, lease)).toMatchObject({ proven: true })
    answer()
    expect((await stateOf(a, late)).proven).toBeUndefined()
    for (const at of [a, b, c])
      await expect.poll(() => reaches(b, lease, SHOP, { at, others: [late] })).toBe(true)
  })

  test('give nobody a new domain while Redis is down, and keep those that they have', async () => {
    const lease = await a.register('kept', { account, domains: [SHOP] })
    expect(await stateOf(a, lease)).toMatchObject({ proven: true })
    const other = newAccount()
    const asking = await a.register('asking', { account: other, domains: ['other.test'] })
    expect((await stateOf(a, asking)).proven).toBeUndefined()
    prove(dns, other, 'other.test')
    await cluster.redis.stop()
    // This machine has not looked the domain up before, and so does it at once.
    const state = await stateOf(c, asking)
    expect(state).toMatchObject({ state: 'pending', reason: expect.stringContaining('cannot agree') })
    expect(await reaches(a, lease, SHOP)).toBe(true)
  })
})
