// The ENS automation over a real registry of leases: which records it makes and removes, in which order, and how it goes on
// after failures, restarts and changes of the address.

import { mkdir, mkdtemp, readFile, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Lease } from '../../src/core/lease/lease.ts'
import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'
import { Reservations } from '../../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import type { PublicAddresses } from '../../src/features/dns/public-address/public-address-watcher.ts'
import { EnsRecords } from '../../src/features/ens/ens-records.ts'
import { type Ens, startEns } from '../../src/features/ens/start-ens.ts'
import { MemoryDnsProvider } from '../support/memory-dns-provider.ts'

const PATIENT = { timeout: 60_000 }
const ROOT = 'relay.example'
const RELAY = `0x${'12'.repeat(20)}`
const ADDRESS = `0x${'ab'.repeat(20)}`
const OTHER = `0x${'cd'.repeat(20)}`
const TEXT = 'ENS1 0x238A8F792dFA6033814B18618aD4100654aeef01'
const HERE: PublicAddresses = { ipv4: ['192.0.2.1'], ipv6: ['2001:db8::1'] }
const BOTH = [`demo.${ROOT}`, `demo-${ADDRESS.slice(2)}.${ROOT}`]

let directory: string
let provider: MemoryDnsProvider
let leases: LeaseRegistry
let ens: Ens | undefined
let listeners: Set<(addresses: PublicAddresses) => void>
let lines: { level: number; msg: string }[]

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'svc-ens-'))
  provider = new MemoryDnsProvider()
  leases = newLeases()
  listeners = new Set()
  lines = []
})
afterEach(async () => {
  await ens?.close()
  ens = undefined
  leases.close()
  await rm(directory, { recursive: true })
})

function newLeases(): LeaseRegistry {
  return new LeaseRegistry(new RoutingTable<Route>(ROOT, ROOT_ROUTE), new Reservations())
}

async function start({ isEmbedded = false, returnMs = 60_000, found = HERE, firstPauseMs = 1 } = {}) {
  ens = await startEns({
    provider,
    isEmbedded,
    rootHost: ROOT,
    relayAddress: RELAY,
    directory,
    leases,
    addresses: {
      watch: (listener) => {
        listeners.add(listener)
        listener(found)
        return () => listeners.delete(listener)
      },
    },
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    firstPauseMs,
    syncMs: 1,
    returnMs,
  })
  return ens
}

function register(name = 'demo', address = ADDRESS, registry = leases): Lease {
  const identity = { name, address }
  return registry
    .draft(
      { identity, allowCanonicalFallback: false, metadata: {}, ttlS: 600 },
      { clientIp: '192.0.2.9', reportedIp: undefined },
    )
    .commit()
}

const tell = (addresses: PublicAddresses) => {
  for (const listener of listeners) listener(addresses)
}
const eventually = (check: () => void) => vi.waitFor(check, PATIENT)
const changes = () => provider.calls.filter((call) => call !== 'dnssec')
const published = (...hostnames: string[]) =>
  eventually(() => {
    expect([...provider.texts.keys()].sort()).toEqual([ROOT, ...hostnames].sort())
    expect([...provider.addresses.keys()].sort()).toEqual(hostnames.toSorted())
  })

describe('records', () => {
  test('the base domain names the relay, and each hostname of a lease its identity, with the addresses of the relay', async () => {
    await start()
    register()
    await published(...BOTH)
    expect(provider.texts.get(ROOT)).toEqual([`${TEXT} ${RELAY}`])
    for (const hostname of BOTH) {
      expect(provider.texts.get(hostname)).toEqual([`${TEXT} ${ADDRESS}`])
      expect(provider.addresses.get(hostname)).toEqual(HERE)
    }
    // A name that exists is not covered by a wildcard any more, so that the addresses come first.
    const calls = changes().filter((call) => call.includes(BOTH[0]!))
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['setAddresses', 'addTxt'])
  })

  test('both hostnames lose theirs when the lease is unregistered, and the text goes first', async () => {
    await start()
    const lease = register()
    await published(...BOTH)
    const before = provider.calls.length
    leases.end(lease, 'unregistered')
    await published()
    const calls = provider.calls.slice(before).filter((call) => call.includes(BOTH[0]!))
    expect(calls).toEqual([`removeTxt ${BOTH[0]} ${TEXT} ${ADDRESS}`, `setAddresses ${BOTH[0]}`])
  })

  test('both hostnames lose theirs when the lease expires', async () => {
    await start()
    const lease = register()
    await published(...BOTH)
    leases.end(lease, 'expired')
    await published()
  })

  test('a lease that was refused its friendly hostname has records at its canonical one alone', async () => {
    await start()
    register()
    const identity = { name: 'demo', address: OTHER }
    leases
      .draft(
        { identity, allowCanonicalFallback: true, metadata: {}, ttlS: 600 },
        { clientIp: '192.0.2.9', reportedIp: undefined },
      )
      .commit()
    await published(...BOTH, `demo-${OTHER.slice(2)}.${ROOT}`)
    expect(provider.texts.get(BOTH[0]!)).toEqual([`${TEXT} ${ADDRESS}`])
  })

  test('a hostname that goes to another identity names that one, and the one before no more', async () => {
    const records = new EnsRecords({ provider, published: undefined, log: createLog('silent') })
    records.follow(HERE)
    const [hostname] = BOTH as [string]
    records.want(hostname, { text: `${TEXT} ${ADDRESS}`, hasAddresses: true })
    await eventually(() => expect(provider.texts.get(hostname)).toEqual([`${TEXT} ${ADDRESS}`]))
    records.want(hostname, undefined)
    records.want(hostname, { text: `${TEXT} ${OTHER}`, hasAddresses: true })
    await eventually(() => expect(provider.texts.get(hostname)).toEqual([`${TEXT} ${OTHER}`]))
    expect(provider.addresses.get(hostname)).toEqual(HERE)
    await records.close()
  })

  test('what is there is not made again: for a renewal, a replacement, or the same addresses', async () => {
    await start()
    const lease = register()
    await published(...BOTH)
    const made = changes().length
    leases.renew(lease, 600, undefined, { clientIp: '192.0.2.9', reportedIp: undefined })
    register()
    tell(HERE)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(changes()).toHaveLength(made)
  })

  test('addresses follow the relay’s, and texts stay', async () => {
    await start()
    register()
    await published(...BOTH)
    const made = changes().length
    const there = { ipv4: ['192.0.2.2'], ipv6: [] }
    tell(there)
    await eventually(() => expect(BOTH.map((name) => provider.addresses.get(name))).toEqual([there, there]))
    expect(changes().slice(made)).toEqual(BOTH.map((name) => `setAddresses ${name} 192.0.2.2`))
    // While none is known the records stay.
    tell({ ipv4: [], ipv6: [] })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(changes()).toHaveLength(made + 2)
  })

  test('without a public address the hostnames of leases get no records, and the message says what to do', async () => {
    const { status } = await start({ found: { ipv4: [], ipv6: [] } })
    register()
    await published()
    expect(status().message).toMatch(/PUBLIC_IPV4/)
    tell(HERE)
    await published(...BOTH)
    expect(status().message).toBe('publish it')
  })

  test('one change at a time, in the order in which the leases came', async () => {
    await start()
    const names = Array.from({ length: 150 }, (_, index) => `site${index}`)
    for (const name of names) register(name)
    await eventually(() => expect(provider.texts.size).toBe(301))
    expect(provider.mostRunning).toBeLessThanOrEqual(2)
    const order = changes().flatMap((call) => /^addTxt (site\d+)\./.exec(call)?.[1] ?? [])
    expect(order).toEqual(names)
  })
})

describe('failures', () => {
  test('what failed is tried again, what succeeded is not, and the status has the error meanwhile', async () => {
    let isFailing = true
    provider.faultOf = (call) => (isFailing && call.startsWith(`addTxt ${BOTH[1]}`) ? 'conflict' : undefined)
    const { status } = await start()
    register()
    await eventually(() => expect(status().last_error).toMatch(/^conflict: /))
    await eventually(() => expect(provider.texts.has(BOTH[0]!)).toBe(true))
    isFailing = false
    await published(...BOTH)
    await eventually(() => expect(status().last_error).toBe(''))
    const others = changes().filter((call) => !call.startsWith(`addTxt ${BOTH[1]}`))
    expect(new Set(others).size).toBe(others.length)
    expect(lines.map(({ level }) => level)).toEqual([40, 30])
  })

  test('a renewal does not bring an attempt forward, and the end of the lease ends the failure', async () => {
    provider.faultOf = (call) => (call.startsWith(`setAddresses ${BOTH[1]} `) ? 'conflict' : undefined)
    const { status } = await start({ firstPauseMs: 600_000 })
    const lease = register()
    await eventually(() => expect(status().last_error).toMatch(/^conflict: /))
    const before = changes().length
    for (let time = 0; time < 3; time++)
      leases.renew(lease, 600, undefined, { clientIp: '192.0.2.9', reportedIp: undefined })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(changes()).toHaveLength(before)
    leases.end(lease, 'expired')
    await published()
    await eventually(() => expect(status().last_error).toBe(''))
  })

  test('a provider that does not work at all is asked less and less, and then all is made', async () => {
    let isFailing = true
    provider.faultOf = () => (isFailing ? 'unavailable' : undefined)
    const { status } = await start()
    for (let index = 0; index < 20; index++) register(`site${index}`)
    await eventually(() => expect(changes().length).toBeGreaterThan(5))
    expect(changes().length).toBeLessThan(100)
    isFailing = false
    await eventually(() => expect(provider.texts.size).toBe(41))
    await eventually(() => expect(status().last_error).toBe(''))
  })

  test('a removal that fails is tried again, also when it was cut short by a new lease', async () => {
    let isFailing = true
    provider.faultOf = (call) => (isFailing && call.startsWith('removeTxt') ? 'rate_limited' : undefined)
    await start()
    const lease = register()
    await published(...BOTH)
    leases.end(lease, 'expired')
    await eventually(() => expect(changes().some((call) => call.startsWith('removeTxt'))).toBe(true))
    register()
    isFailing = false
    await published(...BOTH)
    leases.end([...leases][0]!, 'expired')
    await published()
  })

  test('additions without room do not hold up removals, which make room', async () => {
    const room = 21
    provider.faultOf = (call) =>
      call.startsWith('addTxt') && provider.texts.size >= room ? 'full' : undefined
    const { status } = await start({ firstPauseMs: 600_000 })
    const made = Array.from({ length: 10 }, (_, index) => register(`site${index}`))
    await eventually(() => expect(provider.texts.size).toBe(room))
    for (let index = 0; index < 200; index++) register(`late${index}`)
    for (const lease of made) leases.end(lease, 'expired')
    await eventually(() => expect(changes().filter((call) => call.startsWith('removeTxt'))).toHaveLength(20))
    await eventually(() =>
      expect([...provider.texts.keys()].some((name) => name.startsWith('late'))).toBe(true),
    )
    expect(provider.texts.size).toBeLessThanOrEqual(room)
    expect(status().last_error).toMatch(/^full: /)
    const refused = changes().findIndex((call) => /^addTxt late/.test(call))
    const others = changes().slice(
      refused,
      changes().findLastIndex((call) => call.startsWith('removeTxt')),
    )
    // At most the batch that was under way comes before the removals.
    expect(others.filter((call) => call.startsWith('addTxt')).length).toBeLessThanOrEqual(64)
  })

  test('more hostnames than there is room for get no records, and are made when there is room again', async () => {
    const log = createLog('silent')
    const records = new EnsRecords({ provider, published: undefined, log, namesMax: 2, firstPauseMs: 1 })
    const owner = { text: `${TEXT} ${ADDRESS}`, hasAddresses: false }
    for (const name of ['a', 'b', 'c']) records.want(name, owner)
    await eventually(() => expect([...provider.texts.keys()]).toEqual(['a', 'b']))
    expect(records.lastError === '' || records.lastError.startsWith('more than 2 hostnames')).toBe(true)
    records.want('a', undefined)
    await eventually(() => expect([...provider.texts.keys()]).toEqual(['b']))
    records.want('c', owner)
    await eventually(() => expect([...provider.texts.keys()]).toEqual(['b', 'c']))
    await records.close()
  })
})

describe('restarts', () => {
  const file = () => path.join(directory, 'ens-names.txt')
  const restart = async (options = {}) => {
    leases.close()
    await ens?.close()
    leases = newLeases()
    return await start(options)
  }

  test('a relay that ends leaves the records, and its successor removes those whose sites stay away', async () => {
    await start()
    register('demo')
    register('gone')
    await eventually(() => expect(provider.texts.size).toBe(5))
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    await restart({ returnMs: 50 })
    expect(provider.texts.size).toBe(5)
    register('demo')
    await published(...BOTH)
    await ens?.close()
    ens = undefined
    expect(await readFile(file(), 'utf8')).not.toContain('gone')
  })

  test('a name is in the file before its record is made', async () => {
    const seen: string[] = []
    provider.faultOf = (call) => {
      if (call !== 'dnssec') seen.push(call)
      return undefined
    }
    await start()
    register()
    await eventually(() => expect(seen.length).toBeGreaterThan(0))
    const text = await readFile(file(), 'utf8')
    expect(text).toContain(`${ROOT} ${TEXT} ${RELAY}\n`)
    await published(...BOTH)
    expect(await readFile(file(), 'utf8')).toContain(`${BOTH[0]} ${TEXT} ${ADDRESS}\n`)
  })

  test('a relay that cannot write the file makes no record until it can', async () => {
    const blocked = `${file()}.svc-tmp`
    await mkdir(blocked)
    const { status } = await start()
    await eventually(() => expect(status().last_error).toMatch(/ens-names\.txt cannot be written/))
    expect(changes()).toEqual([])
    await rmdir(blocked)
    await published()
    expect(lines.filter(({ level }) => level === 40)).toHaveLength(1)
  })

  test('lines that make no sense, and names of others, are left out with a warning', async () => {
    const foreign = `www.example.org ${TEXT} ${ADDRESS}`
    await writeFile(file(), `${BOTH[0]} ${TEXT} ${ADDRESS}\n${foreign}\nrubbish\n\u0000${'x'.repeat(5000)}\n`)
    provider.texts.set('www.example.org', [`${TEXT} ${ADDRESS}`])
    await start({ returnMs: 1 })
    await eventually(() => expect(changes()).toContain(`removeTxt ${BOTH[0]} ${TEXT} ${ADDRESS}`))
    expect(provider.texts.has('www.example.org')).toBe(true)
    expect(lines[0]).toMatchObject({ level: 40, ignored: 3 })
  })

  test('a file that is too long is left alone, with a warning', async () => {
    await writeFile(file(), `${BOTH[0]} ${TEXT} ${ADDRESS}\n`)
    await truncate(file(), 161 * 1024 * 1024)
    await start({ returnMs: 1 })
    await published()
    expect(lines[0]).toMatchObject({ level: 40, msg: expect.stringContaining('too long') })
    expect(changes().filter((call) => call.includes(BOTH[0]!))).toEqual([])
  })

  test('the embedded provider’s records end with the process, so that there is no file', async () => {
    await start({ isEmbedded: true })
    register()
    await eventually(() => expect([...provider.texts.keys()].sort()).toEqual([ROOT, ...BOTH].sort()))
    // They have the addresses of the wildcard.
    expect(provider.addresses.size).toBe(0)
    await expect(stat(file())).rejects.toThrow('ENOENT')
  })
})

describe('status', () => {
  const verifiedAfterSync = async (state: string, isEmbedded = false) => {
    provider.state = { state, dsRecord: '', message: '' }
    const { status } = await start({ isEmbedded })
    await eventually(() => expect(status().dnssec_state).toBe(state))
    await published()
    return status().verified
  }

  test.each(['active', 'on', 'signing', 'transfer', 'Active'])('%s is verified', async (state) =>
    expect(await verifiedAfterSync(state)).toBe(true),
  )

  test.each(['pending', 'off', 'disabled', ''])('%j is not verified', async (state) =>
    expect(await verifiedAfterSync(state)).toBe(false),
  )

  test('embedded DNS is never verified', async () =>
    expect(await verifiedAfterSync('active', true)).toBe(false))

  test('has every field', async () => {
    const { status } = await start()
    await eventually(() => expect(status().dnssec_state).toBe('pending'))
    expect(status()).toEqual({
      enabled: true,
      verified: false,
      provider: 'memory',
      address: RELAY,
      dnssec_state: 'pending',
      ds_record: '1 13 2 AB',
      message: 'publish it',
      last_error: '',
    })
  })

  test('DNSSEC is looked at again while it is not verified, and not any more afterwards', async () => {
    const { status } = await start()
    const looks = () => provider.calls.filter((call) => call === 'dnssec').length
    await eventually(() => expect(looks()).toBeGreaterThan(3))
    provider.state = { state: 'active', dsRecord: '', message: '' }
    await eventually(() => expect(status().verified).toBe(true))
    const before = looks()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(looks()).toBe(before)
  })

  test('an error of the last look is shown, and with it nothing is verified', async () => {
    provider.state = { state: 'active', dsRecord: '', message: '' }
    provider.faultOf = (call) => (call === 'dnssec' ? 'unauthorized' : undefined)
    const { status } = await start()
    await eventually(() =>
      expect(status()).toMatchObject({ verified: false, last_error: 'unauthorized: dnssec' }),
    )
    provider.faultOf = () => undefined
    await eventually(() => expect(status()).toMatchObject({ verified: true, last_error: '' }))
  })
})
