// When the relay looks custom domains up, and what the answers of several name servers prove, by its own clock.

import { DnsClient, type DnsClientOptions } from '@svc/dns/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { NO_PREFERENCES } from '../../src/core/lease/lease-preferences.ts'
import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'
import { Reservations } from '../../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { CustomDomains, type CustomDomainsParts } from '../../src/features/custom-domains/custom-domains.ts'
import { LOOKUPS_MAX, LOOKUPS_PER_NETWORK_MAX } from '../../src/features/custom-domains/limits.ts'
import { lookUpProof } from '../../src/features/custom-domains/proof.ts'
import { RelayAddresses } from '../../src/features/custom-domains/relay-addresses.ts'
import { RememberedProofs } from '../../src/features/custom-domains/remembered-proofs.ts'
import { Turns } from '../../src/features/custom-domains/turns.ts'

const ROOT = 'relay.test'
const SHOP = 'shop.example.test'
const PROOF = `_svc.${SHOP}`
const ALICE = `0x${'a'.repeat(40)}`
const BOB = `0x${'b'.repeat(40)}`
const HOUR_MS = 3_600_000

const closed: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closed.splice(0)) await close()
})

async function dnsServer(records: Record<string, readonly string[]> = {}, at = {}): Promise<DnsServer> {
  const server = await startDnsServer(records, at)
  closed.push(() => server.close())
  return server
}

function claim(address: string): string[] {
  return [`svc-address=${address}`]
}

/** Asks one resolver, at which the test sets the records. */
function through({ port }: DnsServer): CustomDomainsParts['dns'] {
  return { servers: [`127.0.0.1:${port}`], mayAsk: () => true }
}

interface Relay {
  domains: CustomDomains
  leases: LeaseRegistry
  routes: RoutingTable<Route>
  register(address?: string, name?: string, asked?: readonly string[], clientIp?: string): Lease
}

function relayWith(
  dns: CustomDomainsParts['dns'],
  now: () => number,
  parts: Partial<CustomDomainsParts> = {},
): Relay {
  const routes = new RoutingTable<Route>(ROOT, ROOT_ROUTE)
  const leases = new LeaseRegistry(routes, new Reservations())
  const domains = new CustomDomains({
    rootHost: ROOT,
    dns,
    leases,
    routes,
    policy: { isDomainBanned: () => false, onChange: () => {} },
    rateLimits: { takeDomainLookup: () => true },
    addresses: new RelayAddresses({ publicAddresses: { ipv4: ['192.0.2.1'], ipv6: [] }, rootHost: ROOT }),
    sharing: undefined,
    log: createLog('silent'),
    now,
    ...parts,
  })
  closed.push(() => {
    domains.close()
    leases.close()
  })
  return {
    domains,
    leases,
    routes,
    register: (address = ALICE, name = 'demo', asked = [SHOP], clientIp = '198.51.100.1') => {
      const request = {
        identity: { name, address },
        allowCanonicalFallback: true,
        metadata: {},
        ttlS: 600,
        preferences: { ...NO_PREFERENCES, domains: asked },
      }
      return leases.draft(request, { clientIp, reportedIp: undefined }).commit(undefined)
    },
  }
}

describe('by the clock of the relay', () => {
  let dns: DnsServer
  let relay: Relay
  let time: number
  beforeEach(async () => {
    time = 1_000_000_000
    dns = await dnsServer({ [`${PROOF} TXT`]: claim(ALICE), [`${SHOP} A`]: ['192.0.2.1'] })
    relay = relayWith(through(dns), () => time)
  })

  async function asked(lease: Lease): Promise<number> {
    const before = dns.questions.filter(({ type }) => type === 'TXT').length
    relay.domains.ask(lease)
    await relay.domains.settled(lease)
    return dns.questions.filter(({ type }) => type === 'TXT').length - before
  }

  test('an active domain is looked up again each hour, and not before', async () => {
    const lease = relay.register()
    expect(await asked(lease)).toBe(1)
    expect(relay.domains.of(lease)).toMatchObject([{ state: 'active', proven: true }])
    time += HOUR_MS - 1
    expect(await asked(lease)).toBe(0)
    time += 1
    expect(await asked(lease)).toBe(1)
    expect(await asked(lease)).toBe(0)
  })

  test('a proof counts for 24 hours without its record, and no longer (protocol §9.5.7)', async () => {
    const lease = relay.register()
    await asked(lease)
    dns.records.delete(`${PROOF} TXT`)
    for (let hour = 1; hour < 24; hour++) {
      time += HOUR_MS
      expect(await asked(lease)).toBe(1)
      expect(relay.routes.resolve(SHOP)).toBe(lease.route)
    }
    time += HOUR_MS
    await asked(lease)
    expect(relay.routes.resolve(SHOP)).toBeUndefined()
    expect(relay.domains.of(lease)).toMatchObject([
      { state: 'pending', reason: expect.stringContaining('has no TXT') },
    ])
  })

  test('its end closes the connections that are open at the domain, and no others', async () => {
    const lease = relay.register()
    await asked(lease)
    const closed: string[] = []
    for (const name of [SHOP, lease.hostname, '']) lease.onBlock(() => closed.push(name), name)
    lease.onBlock(() => closed.push('left'), SHOP)()
    dns.records.delete(`${PROOF} TXT`)
    time += 24 * HOUR_MS - 1
    await asked(lease)
    expect(closed).toEqual([])
    time += 1
    await asked(lease)
    expect(closed).toEqual([SHOP])
  })

  test('a record that comes back within that time begins another 24 hours', async () => {
    const lease = relay.register()
    await asked(lease)
    dns.onQuestion = ({ type }) => (type === 'TXT' ? ['unrelated'] : undefined)
    time += 23 * HOUR_MS
    await asked(lease)
    dns.onQuestion = undefined
    time += HOUR_MS / 2
    await asked(lease)
    time += HOUR_MS
    await asked(lease)
    time += 23 * HOUR_MS
    relay.domains.ask(lease)
    expect(relay.routes.resolve(SHOP)).toBe(lease.route)
  })

  test('the value of another identity ends a proof at once (protocol §9.5.7)', async () => {
    const lease = relay.register()
    await asked(lease)
    dns.records.set(`${PROOF} TXT`, claim(BOB))
    time += HOUR_MS
    await asked(lease)
    expect(relay.routes.resolve(SHOP)).toBeUndefined()
  })

  test('a pending domain is looked up after 5 s, then after twice as long, up to 5 min', async () => {
    dns.records.clear()
    const lease = relay.register()
    expect(await asked(lease)).toBe(1)
    const pauses: number[] = []
    for (let round = 0; round < 9; round++) {
      const pause = relay.domains.retryAfterS(lease)!
      time += pause * 1000 - 1
      expect(await asked(lease)).toBe(0)
      time += 1
      expect(await asked(lease)).toBe(1)
      pauses.push(pause)
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
  })

  test('a site that registers again within the hour has its domain at once', async () => {
    const lease = relay.register()
    await asked(lease)
    relay.leases.end(lease, 'unregistered')
    expect(relay.routes.resolve(SHOP)).toBeUndefined()
    const again = relay.register()
    expect(relay.domains.ask(again)).toMatchObject([{ proven: true }])
    expect(relay.routes.resolve(SHOP)).toBe(again.route)
    expect(relay.domains.ask(relay.register(BOB, 'other'))[0]?.proven).toBeUndefined()
  })

  test('a site that registers again has no domain that another identity proved since', async () => {
    const lease = relay.register()
    await asked(lease)
    dns.records.set(`${PROOF} TXT`, claim(BOB))
    time += 1
    const other = relay.register(BOB, 'other')
    await asked(other)
    expect(relay.routes.resolve(SHOP)).toBe(other.route)
    for (const one of [other, lease]) relay.leases.end(one, 'unregistered')
    const again = relay.register()
    expect(await asked(again)).toBe(1)
    expect(relay.domains.of(again)).toMatchObject([{ state: 'pending' }])
    expect(relay.routes.resolve(SHOP)).toBeUndefined()
  })

  test('a domain that is banned while its records are looked up leads to nobody', async () => {
    let isBanned = false
    const banning = relayWith(through(dns), () => time, {
      policy: { isDomainBanned: () => isBanned, onChange: () => {} },
    })
    dns.onQuestion = () => {
      isBanned = true
      return undefined
    }
    const lease = banning.register()
    banning.domains.ask(lease)
    await banning.domains.settled(lease)
    expect(banning.routes.resolve(SHOP)).toBeUndefined()
    expect(banning.domains.of(lease)).toMatchObject([
      { state: 'refused', reason: expect.stringContaining('banned') },
    ])
  })

  test('a network beyond its budget waits, and others do not', async () => {
    const poor = '203.0.113.1'
    const limited = relayWith(through(dns), () => time, {
      rateLimits: { takeDomainLookup: (clientIp) => clientIp !== poor },
    })
    const [first, second] = [
      limited.register(BOB, 'poor', [SHOP], poor),
      limited.register(ALICE, 'other', [SHOP]),
    ]
    for (const lease of [first, second]) {
      limited.domains.ask(lease)
      await limited.domains.settled(lease)
    }
    expect(limited.domains.of(first)).toMatchObject([{ state: 'pending' }])
    expect(limited.domains.retryAfterS(first)).toBe(5)
    expect(limited.domains.of(second)).toMatchObject([{ state: 'active' }])
  })

  test('what the other machines claimed later stays theirs', async () => {
    const claims: [string, number][] = []
    const shared = relayWith(through(dns), () => time, {
      sharing: {
        claimDomain: async (lease, domain, provenAt) => {
          claims.push([`${lease.identity.name} ${domain}`, provenAt])
          return false
        },
        renewed: async () => {},
      },
    })
    const lease = shared.register()
    shared.domains.ask(lease)
    await shared.domains.settled(lease)
    expect(claims).toEqual([[`demo ${SHOP}`, time]])
    expect(shared.domains.of(lease)).toMatchObject([{ state: 'pending' }])
    expect(shared.routes.resolve(SHOP)).toBeUndefined()
  })
})

describe('10,000 names of one network', () => {
  test('on name servers that are silent delay no other site', async () => {
    const dns = await dnsServer({ [`${PROOF} TXT`]: claim(ALICE), [`${SHOP} A`]: ['192.0.2.1'] })
    dns.onQuestion = ({ name }) => (name.endsWith('silent.test') ? 'silent' : undefined)
    const relay = relayWith(through(dns), () => 1_000_000_000)
    for (let site = 0; site < 1_250; site++) {
      const asked = Array.from({ length: 8 }, (_, index) => `d${index}.s${site}.silent.test`)
      const crowd = relay.register(
        `0x${site.toString(16).padStart(40, '0')}`,
        `site${site}`,
        asked,
        '203.0.113.1',
      )
      relay.domains.ask(crowd)
    }
    expect(relay.domains.counts).toEqual({ pending: 10_000, active: 0, refused: 0 })
    const lease = relay.register()
    relay.domains.ask(lease)
    await relay.domains.settled(lease)
    expect(relay.domains.of(lease)).toMatchObject([{ state: 'active' }])
    const names = new Set(
      dns.questions.map(({ name }) => name).filter((name) => name.endsWith('silent.test')),
    )
    expect(names.size).toBeLessThanOrEqual(LOOKUPS_PER_NETWORK_MAX)
  })

  test('leave the turns of others alone', async () => {
    const turns = new Turns(LOOKUPS_MAX, LOOKUPS_PER_NETWORK_MAX)
    let running = 0
    let most = 0
    const begin = async (): Promise<() => void> => {
      const end = await turns.take('crowd')
      running += 1
      most = Math.max(most, running)
      return () => {
        running -= 1
        end()
      }
    }
    const crowd = Array.from({ length: 10_000 }, async () => (await begin())())
    const others = await Promise.all(
      Array.from({ length: 15 }, (_, network) => turns.take(`other ${network}`)),
    )
    expect(others).toHaveLength(15)
    for (const end of others) end()
    await Promise.all(crowd)
    expect(most).toBe(LOOKUPS_PER_NETWORK_MAX)
  })

  test('networks that wait take turns', async () => {
    const turns = new Turns(1, 1)
    const order: string[] = []
    const first = await turns.take('first')
    const work = async (network: string): Promise<void> => {
      const end = await turns.take(network)
      order.push(network)
      end()
      end()
    }
    const all = ['crowd', 'crowd', 'crowd', 'one', 'two'].map(work)
    first()
    await Promise.all(all)
    expect(order).toEqual(['crowd', 'one', 'two', 'crowd', 'crowd'])
  })

  test('remembered proofs are bounded', () => {
    const proofs = new RememberedProofs(2)
    for (const domain of ['a', 'b', 'a', 'c']) proofs.add(domain, { identityKey: 'demo', provenAt: 1 })
    expect(['a', 'b', 'c'].map((domain) => proofs.of(domain, 'demo') !== undefined)).toEqual([
      true,
      false,
      true,
    ])
    expect(proofs.of('a', 'other')).toBeUndefined()
  })
})

describe('all authoritative servers', () => {
  /** A zone with three servers on loopback, and a resolver that names them. */
  async function zone(): Promise<{ servers: DnsServer[]; options: DnsClientOptions; resolver: DnsServer }> {
    const first = await dnsServer({}, { address: '127.0.0.2' })
    const { port } = first
    const others = await Promise.all(
      ['127.0.0.3', '127.0.0.4'].map((address) => dnsServer({}, { address, port })),
    )
    const resolver = await dnsServer({
      'example.test NS': ['ns1.example.test', 'ns2.example.test', 'ns3.example.test'],
      'ns1.example.test A': ['127.0.0.2'],
      'ns2.example.test A': ['127.0.0.3'],
      'ns3.example.test A': ['127.0.0.4'],
    })
    const options = { resolvers: [`127.0.0.1:${resolver.port}`], port, mayAsk: () => true }
    return { servers: [first, ...others], options, resolver }
  }

  test('that agree prove a domain', async () => {
    const { servers, options } = await zone()
    for (const { records } of servers) records.set(`${PROOF} TXT`, ['unrelated', ...claim(ALICE)])
    expect(await lookUpProof(new DnsClient(options), SHOP, ALICE)).toEqual({ kind: 'proven' })
    expect(await lookUpProof(new DnsClient(options), SHOP, BOB)).toMatchObject({ kind: 'other' })
  })

  test('are not those of the zone to which an alias leads: its owner proves nothing', async () => {
    const { options, resolver } = await zone()
    const taken = await dnsServer(
      { [`${PROOF} TXT`]: claim(BOB) },
      { address: '127.0.0.5', port: options.port },
    )
    // Resolvers follow the alias, whatever they are asked for.
    resolver.records.set(`${SHOP} CNAME`, ['taken.test'])
    resolver.records.set(`${SHOP} NS`, ['ns.taken.test'])
    resolver.records.set('ns.taken.test A', ['127.0.0.5'])
    expect(await lookUpProof(new DnsClient(options), SHOP, BOB)).toMatchObject({ kind: 'unproven' })
    expect(await lookUpProof(new DnsClient(options), `below.${SHOP}`, BOB)).toMatchObject({
      kind: 'unproven',
    })
    expect(taken.questions).toEqual([])
  })

  test.each<[string, readonly string[] | undefined, string]>([
    ['one of which lacks it', undefined, 'ns3.example.test has no TXT record'],
    ['one of which lies', claim(BOB), 'several values'],
    ['one of which has two', [...claim(ALICE), ...claim(BOB)], 'several values'],
    ['one of which has a malformed one too', [...claim(ALICE), 'svc-address=0x12'], 'several values'],
  ])('%s prove nothing', async (_what, values, why) => {
    const { servers, options } = await zone()
    for (const { records } of servers) records.set(`${PROOF} TXT`, claim(ALICE))
    if (values === undefined) servers[2]!.records.delete(`${PROOF} TXT`)
    else servers[2]!.records.set(`${PROOF} TXT`, values)
    const proof = await lookUpProof(new DnsClient(options), SHOP, ALICE)
    expect(proof).toMatchObject({ kind: 'unproven', why: expect.stringContaining(why) })
  })

  test('one of which is silent prove nothing, and are named', async () => {
    const { servers, options } = await zone()
    for (const { records } of servers) records.set(`${PROOF} TXT`, claim(ALICE))
    servers[1]!.onQuestion = () => 'silent'
    const proof = await lookUpProof(new DnsClient({ ...options, timeoutMs: 100 }), SHOP, ALICE)
    expect(proof).toMatchObject({ kind: 'unproven', why: expect.stringContaining('ns2.example.test') })
  })

  test('on private addresses are not asked', async () => {
    const { servers, options } = await zone()
    const proof = await lookUpProof(new DnsClient({ ...options, mayAsk: () => false }), SHOP, ALICE)
    expect(proof).toMatchObject({
      why: expect.stringContaining('no name server of example.test has an address that may be asked'),
    })
    expect(servers.flatMap(({ questions }) => questions)).toEqual([])
  })

  test('lead along an alias to the servers of its zone', async () => {
    const { servers, options, resolver } = await zone()
    const target = 'proof.other.test'
    for (const [name, values] of [['other.test NS', ['ns1.example.test']]] as const)
      resolver.records.set(name, values)
    for (const { records } of servers) records.set(`${PROOF} CNAME`, [target])
    servers[0]!.records.set(`${target} TXT`, claim(ALICE))
    expect(await lookUpProof(new DnsClient(options), SHOP, ALICE)).toEqual({ kind: 'proven' })
    servers[1]!.onQuestion = ({ name }) => (name === PROOF ? 'silent' : undefined)
    const silent = await lookUpProof(new DnsClient({ ...options, timeoutMs: 100 }), SHOP, ALICE)
    expect(silent).toMatchObject({
      kind: 'unproven',
      why: expect.stringContaining('ns2.example.test does not answer'),
    })
    servers[1]!.onQuestion = undefined
    servers[1]!.records.delete(`${PROOF} CNAME`)
    expect(await lookUpProof(new DnsClient(options), SHOP, ALICE)).toMatchObject({ kind: 'unproven' })
  })

  test('of a zone with more than 16 are not asked at all', async () => {
    const { options, resolver } = await zone()
    const names = Array.from({ length: 17 }, (_, index) => `ns${index}.example.test`)
    resolver.records.set('example.test NS', names)
    const proof = await lookUpProof(new DnsClient(options), SHOP, ALICE)
    expect(proof).toMatchObject({ why: expect.stringContaining('more than 16 name servers') })
  })

  test('cannot lead a look-up to a name of many labels, each of which is a question at the servers of others', async () => {
    const { servers, options, resolver } = await zone()
    const long = `${'x.'.repeat(100)}victim.test`
    for (const server of servers) server.onQuestion = ({ type }) => (type === 'NS' ? [] : { cname: long })
    const proof = await lookUpProof(new DnsClient(options), SHOP, ALICE)
    expect(proof).toMatchObject({ kind: 'unproven', why: expect.stringContaining('more than 16 labels') })
    expect(resolver.questions.filter(({ name }) => name.endsWith('victim.test'))).toEqual([])
  })

  test('cannot make one look-up ask without end', async () => {
    const { servers, options } = await zone()
    let aliases = 0
    for (const server of servers)
      server.onQuestion = ({ name, type }) => {
        aliases += 1
        return type === 'NS' ? [] : { cname: `x.${name}` }
      }
    const proof = await lookUpProof(new DnsClient(options), SHOP, ALICE)
    expect(proof).toMatchObject({
      kind: 'unproven',
      why: expect.stringContaining('more than 8 CNAME records'),
    })
    expect(aliases).toBeLessThan(100)
  })
})
