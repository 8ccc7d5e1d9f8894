// Custom domains at a relay of several processes, and at one of several machines: all of them lead a domain to the same site.

import type { CustomDomainsResponse, RegisterResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import {
  ADMIN,
  ADMIN_TOKEN,
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  untilLinked,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { openVisit, prove, reaches } from '../support/domain-visits.ts'
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
    relay = await startTestRelay({
      SVC_WORKERS: '2',
      ADMIN_TOKEN,
      CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}`,
    })
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

  test('close the connections at a domain that is banned, whichever has them', async () => {
    const account = newAccount()
    prove(dns, account, SHOP)
    const lease = await relay.register('banned', { account, domains: [SHOP] })
    await stateOf(relay, lease)
    const visits = []
    for (let index = 0; index < TRIES / 2; index++) visits.push(await openVisit(relay, lease, SHOP))
    const beside = await openVisit(relay, lease, lease.hostname)
    await ban(relay, true)
    await Promise.all(visits.map(({ closed }) => closed))
    expect(beside.isOpen()).toBe(true)
    await ban(relay, false)
  })
})

async function ban(relay: TestClient, is_banned: boolean): Promise<void> {
  await relay.call('POST', '/api/policy/domains', { domain: SHOP, is_banned }, ADMIN)
}

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
  let ups = 0
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

  wholeOnly(test, 'faults')(
    'give it back to nobody who was the owner before, also when the new one has left',
    async () => {
      const old = await a.register('before', { account, domains: [SHOP] })
      expect(await stateOf(a, old)).toMatchObject({ proven: true })
      const next = newAccount()
      prove(dns, next, SHOP)
      const lease = await b.register('after', { account: next, domains: [SHOP] })
      expect(await stateOf(b, lease)).toMatchObject({ proven: true })
      await b.call('POST', '/sdk/unregister', { access_token: lease.access_token })
      const visitors = { others: [], at: a }
      await expect.poll(() => reaches(a, old, SHOP, visitors)).toBe(false)
      // A machine that starts knows of leases only what the others have written.
      const started = await cluster.add()
      await untilLinked(cluster.relays)
      expect(await reaches(a, old, SHOP, { at: started })).toBe(false)
      // The first machine has seen this proof less than an hour ago, and not that of the other.
      await a.call('POST', '/sdk/unregister', { access_token: old.access_token })
      const again = await a.register('before', { account, domains: [SHOP] })
      expect(await stateOf(a, again)).toMatchObject({
        state: 'pending',
        reason: expect.stringContaining('another identity'),
      })
      expect(await reaches(a, again, SHOP)).toBe(false)
    },
  )

  test('close the connections at a domain that is banned or moves, wherever they came in', async () => {
    prove(dns, account, 'moves.test')
    const lease = await a.register('open', { account, domains: [SHOP, 'moves.test'] })
    await stateOf(a, lease)
    for (const name of [SHOP, 'moves.test'])
      for (const at of [a, b, c]) await expect.poll(() => reaches(a, lease, name, { at })).toBe(true)
    const open = async (name: string) =>
      await Promise.all([a, b, c].map((at) => openVisit(a, lease, name, at)))
    const banned = await open(SHOP)
    const moved = await open('moves.test')
    await ban(b, true)
    await Promise.all(banned.map(({ closed }) => closed))
    expect(moved.map(({ isOpen }) => isOpen())).toEqual([true, true, true])
    await ban(b, false)
    const next = newAccount()
    prove(dns, next, 'moves.test')
    await stateOf(c, await c.register('moved', { account: next, domains: ['moves.test'] }))
    await Promise.all(moved.map(({ closed }) => closed))
  })

  wholeOnly(test, 'faults')(
    'refuse a look-up that began earlier and ends later, also at the machine that knows nothing yet',
    async () => {
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
    },
  )

  test('give nobody a new domain while Redis is down, keep those that they have, and agree when it comes back empty', async () => {
    const lease = await a.register('kept', { account, domains: [SHOP] })
    expect(await stateOf(a, lease)).toMatchObject({ proven: true })
    const next = newAccount()
    const asking = await a.register('asking', { account: next, domains: [SHOP] })
    expect((await stateOf(a, asking)).proven).toBeUndefined()
    prove(dns, next, SHOP)
    await cluster.redis.kill()
    // This machine has not looked the domain up before, and so does it at once, as the next one does.
    const state = await stateOf(c, asking)
    expect(state).toMatchObject({ state: 'pending', reason: expect.stringContaining('cannot agree') })
    for (const at of [a, b, c]) expect(await reaches(a, lease, SHOP, { at, others: [asking] })).toBe(true)
    await cluster.redis.restart({ withoutData: true })
    await untilUp()
    expect(await stateOf(b, asking)).toMatchObject({ proven: true })
    for (const at of [a, b, c])
      await expect.poll(() => reaches(a, asking, SHOP, { at, others: [lease] })).toBe(true)
    expect((await stateOf(a, lease)).proven).toBeUndefined()
    // Nobody but the machines remembers the claim, and the owner has left.
    await b.call('POST', '/sdk/unregister', { access_token: asking.access_token })
    await cluster.redis.restart({ withoutData: true })
    await untilUp()
    await a.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    const again = await a.register('kept', { account, domains: [SHOP] })
    expect(await stateOf(a, again)).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('another identity'),
    })
  })

  async function untilUp(): Promise<void> {
    const registers = (relay: TestClient): Promise<boolean> =>
      relay.register(`up-${ups++}`).then(
        () => true,
        () => false,
      )
    for (const at of [a, b, c]) await expect.poll(() => registers(at)).toBe(true)
  }
})
