// Bans of addresses and networks: what an operator may write, whom it meets, and what asking costs.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyChangesResponse, PolicyDecisionsResponse, PolicyStateResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import fc from '../../../tools/fast-check.ts'
import { NetworkSet, normalizeNetwork } from '../../src/core/client-address/ip-networks.ts'
import { createLog } from '../../src/core/log/log.ts'
import { Policy } from '../../src/core/policy/policy.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1/32', '192.0.2.1'],
  ['192.0.2.77/24', '192.0.2.0/24'],
  ['192.0.2.77/25', '192.0.2.0/25'],
  ['255.255.255.255/1', '128.0.0.0/1'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.77/120', '192.0.2.0/24'],
  ['fd9c:6cc0:2f1f:1::1', 'fd9c:6cc0:2f1f:1::1/128'],
  ['2001:DB8::1', '2001:db8::/64'],
  ['2001:db8:0:0:ffff::1', '2001:db8::/64'],
  ['2001:db8::1/128', '2001:db8::1/128'],
  ['2001:db8:1:2:3:4:5:6/47', '2001:db8::/47'],
  ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['::/0', '::/0'],
  ['192.0.2.1/33', undefined],
  ['2001:db8::/129', undefined],
  ['192.0.2.1/', undefined],
  ['192.0.2.1/024', undefined],
  ['192.0.2.1/-1', undefined],
  ['192.0.2.1/24/24', undefined],
  ['192.0.2/24', undefined],
  ['::ffff:192.0.2.1/95', undefined],
  ['', undefined],
  ['/24', undefined],
  [`${'1'.repeat(60)}/24`, undefined],
])('%j means %j', (text, network) => expect(normalizeNetwork(text)).toBe(network))

describe('NetworkSet', () => {
  test('has the addresses of its networks, and tells by which', () => {
    const set = new NetworkSet(['192.0.2.0/24', '192.0.2.7', '2001:db8::/64', '2001:db8:1::5/128'])
    expect(set.covering('192.0.2.7').toSorted()).toEqual(['192.0.2.0/24', '192.0.2.7'])
    expect(set.covering('192.0.3.7')).toEqual([])
    expect(set.covering('2001:db8::ffff:1')).toEqual(['2001:db8::/64'])
    expect(set.covering('2001:db8:0:1::1')).toEqual([])
    expect(set.covering('2001:db8:1::5')).toEqual(['2001:db8:1::5/128'])
    expect(set.covering('2001:db8:1::6')).toEqual([])
    expect([set.has('192.0.2.255'), set.has('192.0.1.255')]).toEqual([true, false])
    expect(new NetworkSet(['0.0.0.0/0']).has('::1')).toBe(false)
    expect(new NetworkSet(['0.0.0.0/0', '::/0']).has('255.1.2.3')).toBe(true)
  })

  test('agrees with a comparison bit by bit', () => {
    const octets = fc.array(fc.constantFrom(0, 1, 127, 128, 254, 255), { minLength: 4, maxLength: 4 })
    const groups = fc.array(fc.constantFrom('0', '1', '8000', 'ffff'), { minLength: 8, maxLength: 8 })
    const bits = (ip: string): string =>
      ip.includes('.')
        ? ip
            .split('.')
            .map((octet) => Number(octet).toString(2).padStart(8, '0'))
            .join('')
        : ip
            .split(':')
            .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
            .join('')
    const address = fc.oneof(
      octets.map((some) => some.join('.')),
      groups.map((some) => some.join(':')),
    )
    fc.assert(
      fc.property(address, address, fc.nat(128), (network, ip, length) => {
        const prefix = Math.min(length, bits(network).length)
        const isIn =
          bits(ip).length === bits(network).length &&
          bits(ip).slice(0, prefix) === bits(network).slice(0, prefix)
        const set = new NetworkSet([normalizeNetwork(`${network}/${prefix}`)!])
        expect(set.has(ip)).toBe(isIn)
      }),
    )
  })

  test('asking costs the same however many there are', () => {
    const some = (count: number) =>
      new NetworkSet(Array.from({ length: count }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`))
    /** Returns microseconds of processor time. */
    const took = (set: NetworkSet): number => {
      const times = Array.from({ length: 5 }, () => {
        const start = process.threadCpuUsage()
        for (let n = 0; n < 10_000; n++) set.has(`192.0.2.${n & 255}`)
        return process.threadCpuUsage(start).user
      })
      return Math.min(...times)
    }
    const [few, many] = [some(10), some(100_000)]
    took(few)
    // A list that is looked through takes ten thousand times as long.
    expect(took(many)).toBeLessThan(20 * took(few))
  })
})

describe('policy.json', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-bans-'))
  })
  afterEach(() => rm(directory, { recursive: true }))
  const load = () =>
    Policy.load(directory, { udp: false, tcp: false }, { health: new WriteHealth(createLog('silent')) })

  test('edited by hand may have networks, and addresses as they were written before', async () => {
    await load()
    const path = join(directory, 'policy.json')
    const file = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(
      path,
      JSON.stringify({ ...file, banned_ips: ['2001:DB8::1', '192.0.2.9/24', '2001:db8::2'] }),
    )
    const policy = await load()
    expect(policy.decisions.banned_ips).toEqual(['2001:db8::/64', '192.0.2.0/24'])
    expect(policy.isAnyIpBanned('2001:db8::7')).toBe(true)
    await writeFile(path, JSON.stringify({ ...file, banned_ips: ['192.0.2'] }))
    await expect(load()).rejects.toThrow(/policy\.json: is not a policy file \(banned_ips\.0: /)
  })
})

describe('a relay', () => {
  let relay: TestRelay
  beforeAll(async () => {
    relay = await startTestRelay({ ADMIN_TOKEN, TRUSTED_PROXIES: '127.0.0.1' })
  })
  afterAll(() => relay.close())

  const ban = (ip: string, is_banned = true) =>
    relay.call('POST', '/api/policy/ips', { ip, is_banned }, BEARER)
  const decided = async () => {
    const { data } = (await relay.call('GET', '/api/policy/decisions', undefined, BEARER)).json
    return (data as unknown as PolicyDecisionsResponse).banned_ips
  }
  const challenge = (address: string) =>
    relay.call(
      'POST',
      '/sdk/register/challenge',
      { identity: { name: 'demo', address: newAccount().address } },
      { Forwarded: `for="${address.includes(':') ? `[${address}]` : address}"` },
    )

  test.each([
    ['2001:db8::1', '2001:db8::/64', '2001:db8::ffff', '2001:db8:0:1::1'],
    ['2001:db8::/48', '2001:db8::/48', '2001:db8:0:ffff::1', '2001:db8:1::1'],
    ['2001:db8::1/128', '2001:db8::1/128', '2001:db8::1', '2001:db8::2'],
    ['192.0.2.1/25', '192.0.2.0/25', '192.0.2.127', '192.0.2.128'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ])(
    'a ban of %s is one of %s: it meets %s and not %s, and can be lifted',
    async (ip, network, met, spared) => {
      expect((await ban(ip)).status).toBe(200)
      expect(await decided()).toEqual([network])
      expect(await challenge(met)).toMatchObject({ status: 403, json: { error: { code: 'ip_banned' } } })
      expect((await challenge(spared)).status).toBe(201)
      expect((await ban(ip, false)).status).toBe(200)
      expect(await decided()).toEqual([])
      expect((await challenge(met)).status).toBe(201)
    },
  )

  test('an administrator sees by which bans a lease is met, and what would take one back', async () => {
    const lease = await relay.register('demo')
    const { data } = (await relay.call('GET', '/api/policy/state', undefined, BEARER)).json
    expect((data as unknown as PolicyStateResponse).leases[0]).toMatchObject({
      is_ip_banned: false,
      ip_bans: [],
    })
    await ban('127.0.0.0/8')
    await ban('127.0.0.1')
    const state = (await relay.call('GET', '/api/policy/state', undefined, BEARER)).json.data
    const [shown] = (state as unknown as PolicyStateResponse).leases
    expect(shown).toMatchObject({ name: lease.identity.name, is_ip_banned: true })
    expect(shown!.ip_bans.toSorted()).toEqual(['127.0.0.0/8', '127.0.0.1'])
    const { changes } = (await relay.call('GET', '/api/policy/changes', undefined, BEARER)).json
      .data as unknown as PolicyChangesResponse
    // Although the address was in a banned network already.
    expect(changes[0]).toMatchObject({
      made: { ip: '127.0.0.1' },
      undo: { ip: '127.0.0.1', is_banned: false },
    })
  })

  test.each(['192.0.2.1/33', '192.0.2/24', 'everybody', '2001:db8::/x'])('%s is refused', async (ip) => {
    expect(await ban(ip)).toMatchObject({ status: 400, json: { error: { code: 'invalid_ip' } } })
  })
})
