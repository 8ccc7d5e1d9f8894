// Custom domains at a real relay, with a DNS server whose records the tests change: states, routes, and who owns a name.

import type {
  CustomDomain,
  CustomDomainsResponse,
  DomainResponse,
  PolicyChangesResponse,
  PolicyStateResponse,
  PublicStateResponse,
  RegisterResponse,
} from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import { openVisit, prove as proveAt, reaches as reachesAt } from '../support/domain-visits.ts'
import { type Answer, freePort, newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const SHOP = 'shop.example.test'
const TOKEN = 'a-token-of-a-test'
const ADMIN = { Authorization: `Bearer ${TOKEN}` }

let dns: DnsServer
let relay: TestRelay
async function start(): Promise<void> {
  dns = await startDnsServer()
  relay = await startTestRelay({ CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}`, ADMIN_TOKEN: TOKEN })
}
async function close(): Promise<void> {
  await relay.close()
  await dns.close()
}

type Account = ReturnType<typeof newAccount>

const prove = (account: Account, domain = SHOP): void => proveAt(dns, account, domain)
const reaches = (lease: RegisterResponse, domain: string, options = {}): Promise<boolean> =>
  reachesAt(relay, lease, domain, options)

async function asked(lease: RegisterResponse): Promise<CustomDomainsResponse> {
  const { access_token } = lease
  return (await relay.call('POST', '/sdk/domains', { access_token })).json.data as CustomDomainsResponse
}

async function stateOf(lease: RegisterResponse, domain = SHOP): Promise<CustomDomain> {
  const { domains } = await asked(lease)
  return domains.find((one) => one.domain === domain)!
}

describe('a domain of a registration', () => {
  beforeEach(start)
  afterEach(close)

  test('delays no registration, is pending without its record, and tells what to set (protocol §9.5.1)', async () => {
    const account = newAccount()
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    expect(lease.domains).toEqual([expect.objectContaining({ domain: SHOP, state: 'pending' })])
    const { state, proven, reason, records } = await stateOf(lease)
    expect({ state, proven }).toEqual({ state: 'pending', proven: undefined })
    const value = `svc-address=${account.address.toLowerCase()}`
    expect(reason).toContain(`has no TXT record at _svc.${SHOP} with ${value}`)
    expect(records).toContainEqual({ type: 'TXT', name: `_svc.${SHOP}`, value })
    expect(records).toContainEqual({ type: 'CNAME', name: SHOP, value: lease.canonical_hostname })
    expect(await reaches(lease, SHOP)).toBe(false)
  })

  test('leads to the site as soon as its record is there, and is active when it leads here (protocol §9.5.2)', async () => {
    const account = newAccount()
    prove(account)
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({ state: 'pending', proven: true })
    expect(await reaches(lease, SHOP)).toBe(true)
    dns.records.set(`${SHOP} CNAME`, [lease.canonical_hostname])
    const again = await relay.register('demo', { account, domains: [SHOP] })
    expect(again.domains).toEqual([expect.objectContaining({ proven: true })])
    expect(await stateOf(again)).toMatchObject({ state: 'active', proven: true })
    expect(await reaches(again, SHOP)).toBe(true)
  })

  test('is asked for again after a pause that the answer names (protocol §9.5.6)', async () => {
    const lease = await relay.register('demo', { domains: [SHOP] })
    expect(await asked(lease)).toMatchObject({ retry_after: 5 })
    const { length } = dns.questions
    await asked(lease)
    await asked(lease)
    expect(dns.questions).toHaveLength(length)
  })

  test('gets an authority that validates it, and the names of the relay do not (protocol §9.5.5)', async () => {
    const account = newAccount()
    const unproven = await relay.register('demo', { account, domains: [SHOP] })
    await stateOf(unproven)
    expect(await reaches(unproven, SHOP, { ALPNProtocols: ['acme-tls/1'] })).toBe(false)
    prove(account)
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    await stateOf(lease)
    expect(await reaches(lease, SHOP, { ALPNProtocols: ['acme-tls/1'] })).toBe(true)
    expect(await reaches(lease, lease.hostname, { ALPNProtocols: ['acme-tls/1'] })).toBe(false)
    expect(await reaches(lease, lease.hostname)).toBe(true)
  })

  test('leads nowhere when the lease has ended, and costs no look-up where nobody names one', async () => {
    const account = newAccount()
    prove(account)
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    await stateOf(lease)
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    const { length } = dns.questions
    const other = await relay.register('other', {})
    expect(other.domains).toBeUndefined()
    expect(await asked(other)).toEqual({ domains: [] })
    expect(await reaches(other, SHOP)).toBe(false)
    expect(dns.questions).toHaveLength(length)
  })

  test("is in the answers to renewals, and in the public and the administrator's list", async () => {
    const account = newAccount()
    prove(account)
    const lease = await relay.register('demo', { account, domains: [SHOP, 'other.test'] })
    await stateOf(lease)
    const { access_token } = lease
    const renewed = await relay.call('POST', '/sdk/renew', { access_token })
    const { domains } = renewed.json.data as RegisterResponse
    expect(domains).toEqual([
      expect.objectContaining({ domain: SHOP, proven: true }),
      expect.objectContaining({ domain: 'other.test', state: 'pending' }),
    ])
    const listed = (await relay.call('GET', '/api/state')).json.data as PublicStateResponse
    expect(listed.leases).toEqual([expect.objectContaining({ domains: [SHOP] })])
    const state = (await relay.call('GET', '/api/policy/state', undefined, ADMIN)).json.data
    const [shown] = (state as PolicyStateResponse).leases
    expect(shown?.custom_domains).toEqual([
      { domain: SHOP, state: 'pending', proven: true, reason: expect.any(String) },
      { domain: 'other.test', state: 'pending', reason: expect.any(String) },
    ])
  })
})

describe('a name that is refused (protocol §9.5.4)', () => {
  const account = newAccount()
  beforeAll(start)
  afterAll(close)

  test.each([
    ['a name of the relay', 'x.relay.localhost', 'it is a name of this relay'],
    ['the relay itself', 'relay.localhost', 'it is a name of this relay'],
    ['the relay in another case', 'Demo.RELAY.localhost', 'it is a name of this relay'],
    ['the relay with a dot at the end', 'relay.localhost.', 'it is a name of this relay'],
    ['another case', 'Shop.example.test', 'it has to be written as shop.example.test'],
    ['a dot at the end', 'shop.example.test.', 'it has to be written as shop.example.test'],
    ['a wildcard', '*.example.test', 'a wildcard cannot be'],
    ['an address', '192.0.2.1', 'it is an IP address'],
    ['a short address', '127.1', 'it is an IP address'],
    ['an address in hexadecimal', '0x7f.0x1', 'it is an IP address'],
    ['an IPv6 address', '2001:db8::1', 'it is an IP address'],
    ['letters beyond ASCII', 'bücher.example', 'it has to be written as xn--bcher-kva.example'],
    [
      'a name of the relay with another dot',
      'x.relay。localhost',
      'it has to be written as x.relay.localhost',
    ],
    ['a name that looks like the relay', 'rеlay.localhost', 'it has to be written as xn--'],
    ['a name below that of another site', 'a.demo.relay.localhost', 'it is a name of this relay'],
    ['an underscore', '_svc.example.test', 'it is not a domain name'],
    ['a port', 'example.test:443', 'it is not a domain name'],
    ['a label alone', 'localhost', 'it is not a domain name'],
    ['an empty name', '', 'it is not a domain name'],
    ['a long label', `${'a'.repeat(64)}.test`, 'it is not a domain name'],
    ['a name without room for the proof', `${'a.'.repeat(124)}test`, 'it is not a domain name'],
  ])('%s', async (_what, domain, reason) => {
    const lease = await relay.register('demo', { account, domains: [domain] })
    expect(lease.domains).toEqual([
      { domain, state: 'refused', reason: expect.stringContaining(`${domain}: ${reason}`) },
    ])
    expect(dns.questions).toEqual([])
  })

  test.each(['co.uk', 'github.io'])('a public suffix: %s', async (domain) => {
    prove(account, domain)
    const lease = await relay.register('demo', { account, domains: [domain] })
    const { state, reason, proven } = await stateOf(lease, domain)
    expect({ state, proven }).toEqual({ state: 'refused', proven: undefined })
    expect(reason).toContain('public suffix')
  })

  test('more than eight fail as a whole, as names that are too long do', async () => {
    const domains = Array.from({ length: 9 }, (_, index) => `d${index}.test`)
    await expect(relay.register('demo', { domains })).rejects.toThrow('invalid_request')
    await expect(relay.register('demo', { domains: [`${'a.'.repeat(130)}test`] })).rejects.toThrow(
      'invalid_request',
    )
  })
})

describe('one identity owns a name at a time (protocol §9.5.3)', () => {
  beforeEach(start)
  afterEach(close)

  test('the identity of the record has it, whoever else asks', async () => {
    const [owner, thief] = [newAccount(), newAccount()]
    prove(owner)
    const stolen = await relay.register('thief', { account: thief, domains: [SHOP] })
    expect(await stateOf(stolen)).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('another identity'),
    })
    const lease = await relay.register('owner', { account: owner, domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({ proven: true })
    expect(await reaches(lease, SHOP)).toBe(true)
    expect(await reaches(stolen, SHOP, { others: [lease] })).toBe(false)
  })

  test('a dangling alias is nothing: who takes the canonical name over needs the record', async () => {
    const [owner, thief] = [newAccount(), newAccount()]
    const stolen = await relay.register('demo', { account: thief, domains: [SHOP] })
    dns.records.set(`${SHOP} CNAME`, [stolen.canonical_hostname])
    prove(owner)
    expect((await stateOf(stolen)).proven).toBeUndefined()
    expect(await reaches(stolen, SHOP)).toBe(false)
  })

  test('a record that names another identity moves the domain, at once', async () => {
    const [before, after] = [newAccount(), newAccount()]
    prove(before)
    const old = await relay.register('old', { account: before, domains: [SHOP] })
    await stateOf(old)
    prove(after)
    const lease = await relay.register('new', { account: after, domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({ proven: true })
    expect(await reaches(lease, SHOP)).toBe(true)
    expect(await reaches(old, SHOP, { others: [lease] })).toBe(false)
    expect((await stateOf(old)).proven).toBeUndefined()
  })

  test('two values that disagree own nothing', async () => {
    const [one, other] = [newAccount(), newAccount()]
    const values = [one, other].map(({ address }) => `svc-address=${address.toLowerCase()}`)
    dns.records.set(`_svc.${SHOP} TXT`, ['v=spf1 -all', ...values])
    for (const account of [one, other]) {
      const lease = await relay.register('demo', { account, domains: [SHOP], allow_canonical_fallback: true })
      expect(await stateOf(lease)).toMatchObject({
        state: 'pending',
        reason: expect.stringContaining('only one'),
      })
    }
  })

  test('of two sites of one identity the first keeps it while it is there', async () => {
    const account = newAccount()
    prove(account)
    const first = await relay.register('first', { account, domains: [SHOP] })
    await stateOf(first)
    const { length } = dns.questions
    const second = await relay.register('second', { account, domains: [SHOP] })
    const served = {
      domain: SHOP,
      state: 'refused',
      reason: `${SHOP}: your other site first serves it, until that one stops asking for it`,
    }
    // No record is missing, so that none is named, and none is looked up.
    expect(second.domains).toEqual([served])
    expect(await asked(second)).toEqual({ domains: [served] })
    expect(dns.questions).toHaveLength(length)
    expect(await reaches(first, SHOP)).toBe(true)
    await relay.call('POST', '/sdk/unregister', { access_token: first.access_token })
    await relay.call('POST', '/sdk/renew', { access_token: second.access_token })
    expect(await stateOf(second)).toMatchObject({ proven: true })
    expect(await reaches(second, SHOP)).toBe(true)
  })

  test('of two sites of one identity that ask at once, one is told of the other', async () => {
    const account = newAccount()
    prove(account)
    const leases = [
      await relay.register('one', { account, domains: [SHOP] }),
      await relay.register('two', { account, domains: [SHOP] }),
    ]
    const states = await Promise.all(leases.map((lease) => stateOf(lease)))
    expect(states.filter(({ proven }) => proven)).toHaveLength(1)
    expect(states.find(({ proven }) => !proven)?.reason).toMatch(/: your other site (?:one|two) serves it, /)
  })

  test('a record that changes between the look-up and the route gives the name to the later proof', async () => {
    const [slow, fast] = [newAccount(), newAccount()]
    const first = await relay.register('slow', { account: slow, domains: ['unrelated.test'] })
    await stateOf(first, 'unrelated.test')
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    prove(slow)
    // The first look-up has the old value, and gets its answer when another identity has the domain.
    let isFirst = true
    const old = dns.records.get(`_svc.${SHOP} TXT`)!
    dns.onQuestion = async ({ name, type }) => {
      if (name !== `_svc.${SHOP}` || type !== 'TXT' || !isFirst) return undefined
      isFirst = false
      await held
      return old
    }
    const begun = await relay.register('slow', { account: slow, domains: [SHOP] })
    await expect.poll(() => isFirst).toBe(false)
    prove(fast)
    const lease = await relay.register('fast', { account: fast, domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({ proven: true })
    answer()
    expect(await stateOf(begun)).toMatchObject({ reason: expect.stringContaining('another site') })
    expect(await reaches(lease, SHOP)).toBe(true)
    expect(await reaches(begun, SHOP, { others: [lease] })).toBe(false)
  })
})

describe('name servers that misbehave cost only their own domain', () => {
  beforeEach(start)
  afterEach(close)

  test('64 KiB of values neither prove nor delay', async () => {
    const account = newAccount()
    dns.records.set(
      `_svc.${SHOP} TXT`,
      Array.from({ length: 230 }, (_, index) => `${index} ${'x'.repeat(240)}`),
    )
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('has no TXT'),
    })
    expect(dns.questions.some(({ isTcp }) => isTcp)).toBe(true)
  })

  test('aliases in a circle end', async () => {
    dns.onQuestion = ({ name }) => ({ cname: name.startsWith('a.') ? 'b.test' : 'a.test' })
    const lease = await relay.register('demo', { domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({
      reason: expect.stringContaining('more than 8 CNAME records'),
    })
  })

  test('a silent server does not delay the registration, other domains, or other sites', async () => {
    const account = newAccount()
    prove(account)
    dns.onQuestion = ({ name }) => (name.endsWith('silent.test') ? 'silent' : undefined)
    const waiting = await relay.register('waiting', { domains: ['a.silent.test', 'b.silent.test'] })
    expect(waiting.domains?.map(({ state }) => state)).toEqual(['pending', 'pending'])
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    expect(await stateOf(lease)).toMatchObject({ proven: true })
  })
})

describe('connections that are open at a domain', () => {
  beforeEach(start)
  afterEach(close)

  test.each<[string, (lease: RegisterResponse) => Promise<unknown>]>([
    [
      'close when the operator bans it, and those at other names stay (protocol §9.5.7)',
      () => relay.call('POST', '/api/policy/domains', { domain: 'example.test', is_banned: true }, ADMIN),
    ],
    [
      'close when another identity proves it, and those at other names stay',
      async () => {
        const account = newAccount()
        prove(account)
        await stateOf(await relay.register('new', { account, domains: [SHOP] }))
      },
    ],
  ])('%s', async (_what, lose) => {
    const account = newAccount()
    prove(account)
    prove(account, 'other.test')
    const lease = await relay.register('demo', { account, domains: [SHOP, 'other.test'] })
    await stateOf(lease)
    const at = await Promise.all(
      ['SHOP.example.TEST', 'other.test', lease.hostname].map((name) => openVisit(relay, lease, name)),
    )
    await lose(lease)
    await at[0]!.closed
    expect(at.map(({ isOpen }) => isOpen())).toEqual([false, true, true])
    expect(await reaches(lease, SHOP)).toBe(false)
  })

  test('close when the lease ends', async () => {
    const account = newAccount()
    prove(account)
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    await stateOf(lease)
    const { closed } = await openVisit(relay, lease, SHOP)
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    await closed
  })
})

describe('the operator', () => {
  beforeEach(start)
  afterEach(close)

  test('bans a domain and all below it, and lifts the ban (protocol §9.5.7)', async () => {
    const account = newAccount()
    prove(account)
    const lease = await relay.register('demo', { account, domains: [SHOP] })
    await stateOf(lease)
    const ban = (is_banned: boolean): Promise<Answer> =>
      relay.call('POST', '/api/policy/domains', { domain: 'Example.TEST.', is_banned }, ADMIN)
    expect((await ban(true)).status).toBe(200)
    expect(await reaches(lease, SHOP)).toBe(false)
    expect(await stateOf(lease)).toMatchObject({
      state: 'refused',
      reason: expect.stringContaining('banned'),
    })
    const decisions = await relay.call('GET', '/api/policy/decisions', undefined, ADMIN)
    expect(decisions.json.data).toMatchObject({ banned_domains: ['example.test'] })
    const { changes } = (await relay.call('GET', '/api/policy/changes', undefined, ADMIN)).json
      .data as PolicyChangesResponse
    expect(changes[0]).toMatchObject({
      kind: 'domain',
      made: { domain: 'example.test', is_banned: true },
      undo: { domain: 'example.test', is_banned: false },
    })
    await ban(false)
    expect((await stateOf(lease)).state).toBe('pending')
  })

  test('turns them off: no extension, no state, no look-up', async () => {
    const off = await startTestRelay({ CUSTOM_DOMAINS: 'false' })
    try {
      const { extensions } = (await off.call('GET', '/sdk/domain')).json.data as DomainResponse
      expect(extensions).not.toContain('custom_domains')
      const lease = await off.register('demo', { domains: [SHOP] })
      expect(lease.domains).toBeUndefined()
      const { access_token } = lease
      const answer = await off.call('POST', '/sdk/domains', { access_token })
      expect(answer.json).toMatchObject({ error: { code: 'feature_unavailable' } })
    } finally {
      await off.close()
    }
  })

  test('sees the states in metrics', async () => {
    const port = await freePort()
    const measured = await startTestRelay({
      CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}`,
      METRICS_ADDR: `127.0.0.1:${port}`,
    })
    try {
      const { access_token } = await measured.register('demo', { domains: [SHOP, '*.test'] })
      await measured.call('POST', '/sdk/domains', { access_token })
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      expect(text).toContain('svc_relay_custom_domains{state="pending"} 1')
      expect(text).toContain('svc_relay_custom_domains{state="refused"} 1')
      expect(text).toContain('svc_relay_custom_domain_lookups_total{outcome="unproven"} 1')
    } finally {
      await measured.close()
    }
  })
})
