// Tests dedicated TCP and UDP ports from outside: settings, limits, exhaustion, reservations, and what closes them.

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { MARKER, type RegisterResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { isListening } from '../../../tools/network/is-listening.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { type Answer, freePort, newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'
import { CARRIERS } from '../support/session.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const ADMIN = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const BOTH = { UDP_ENABLED: 'true', TCP_ENABLED: 'true' }

/** Ports of the relay that most tests share. */
const SHARED_PORTS = 24

let relay: TestRelay

/** Has the tests of this block share a relay, each of which finds the policy as a new relay has it. */
function shareRelay(ports: number, env?: Record<string, string>): void {
  beforeAll(() => start(ports, env))
  afterEach(() => policy({}))
  afterAll(() => relay.close())
}

async function start(count: number, env: Record<string, string> = BOTH): Promise<void> {
  const first = await freeRange(count)
  const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + count - 1}` }
  relay = await startTestRelay({ ADMIN_TOKEN, ...range, ...env })
}

const portOf = (address: string | undefined): number => Number(address?.split(':')[1])
const addressOf = (port: number): string => `127.0.0.1:${port}`

const challenge = (fields: object): Promise<Answer> =>
  relay.call('POST', '/sdk/register/challenge', {
    identity: { name: 'port', address: newAccount().address },
    ...fields,
  })

const policy = (ports: object) =>
  relay.call(
    'POST',
    '/api/policy',
    {
      approval_mode: 'auto',
      landing_page_enabled: true,
      udp: { enabled: true, max_leases: 0 },
      tcp_port: { enabled: true, max_leases: 0 },
      ...ports,
    },
    ADMIN,
  )

/** Whether a socket of this process can have the port: it cannot while the relay does. */
const isFree = async (port: number): Promise<boolean> => {
  const socket: UdpSocket = createSocket('udp6')
  try {
    socket.bind(port)
    await once(socket, 'listening')
    return true
  } catch {
    return false
  } finally {
    socket.close()
  }
}

/** Whether visitors reach the TCP port of a lease, and whether the relay has its UDP port. */
const isServed = async ({ tcp_addr, udp_addr }: RegisterResponse): Promise<[boolean, boolean]> => [
  await isListening(portOf(tcp_addr)),
  !(await isFree(portOf(udp_addr))),
]

/** Returns the relay's description of a lease. */
async function stateOf(name: string): Promise<object | undefined> {
  const { data } = (await relay.call('GET', '/api/state')).json as unknown as {
    data: { leases: { name: string }[] }
  }
  return data.leases.find((lease) => lease.name === name)
}

const DISABLED: [string, object, string][] = [
  ['TCP', { tcp_enabled: true }, 'tcp_port_disabled'],
  ['UDP', { udp_enabled: true }, 'udp_disabled'],
]

describe('a relay whose settings open no ports', () => {
  shareRelay(1, {})

  test.each(DISABLED)('%s: shut on the server', async (_name, fields, code) => {
    expect(await challenge(fields)).toMatchObject({ status: 403, json: { error: { code } } })
  })
})

describe('a relay without a range of ports', () => {
  beforeAll(async () => {
    relay = await startTestRelay(BOTH)
  })
  afterAll(() => relay.close())

  test.each(DISABLED)('%s: no range', async (_name, fields, code) => {
    expect(await challenge(fields)).toMatchObject({ status: 403, json: { error: { code } } })
  })
})

describe('a relay with one port of each kind', () => {
  shareRelay(1)
  const account = newAccount()

  test.each([
    ['TCP', { tcp_enabled: true }, 'tcp_port_capacity_exceeded'],
    ['UDP', { udp_enabled: true }, 'udp_capacity_exceeded'],
  ])('%s: max_leases, which a lease does not count against itself', async (_name, fields, code) => {
    const one = { enabled: true, max_leases: 1 }
    await policy({ udp: one, tcp_port: one })
    await relay.register('first', { account, ...fields })
    expect(await challenge(fields)).toMatchObject({ status: 503, json: { error: { code } } })
    await relay.register('first', { account, ...fields })
  })

  test.each([
    ['TCP', { tcp_enabled: true }, 'tcp_port_exhausted'],
    ['UDP', { udp_enabled: true }, 'udp_port_exhausted'],
  ])(
    '%s: every port given out, and the failed registration leaves nothing behind',
    async (name, fields, code) => {
      await relay.register('first', { account, ...fields })
      await expect(relay.register(`second-${name.toLowerCase()}`, fields)).rejects.toThrow(code)
      await relay.register(`second-${name.toLowerCase()}`)
    },
  )
})

describe('a relay with ports for many', () => {
  shareRelay(SHARED_PORTS)

  describe('gates', () => {
    test.each(DISABLED)('%s: shut by the policy', async (_name, fields, code) => {
      const shut = { enabled: false, max_leases: 0 }
      await policy({ udp: shut, tcp_port: shut })
      expect(await challenge(fields)).toMatchObject({ status: 403, json: { error: { code } } })
    })

    test('a policy that is shut after the challenge counts too', async () => {
      const account = newAccount()
      const challenged = await relay.call('POST', '/sdk/register/challenge', {
        identity: { name: 'late', address: account.address },
        tcp_enabled: true,
      })
      const { challenge_id, siwe_message } = challenged.json.data as unknown as Record<string, string>
      await policy({ tcp_port: { enabled: false, max_leases: 0 } })
      const siwe_signature = await account.signMessage({ message: siwe_message ?? '' })
      expect(
        await relay.call('POST', '/sdk/register', { challenge_id, siwe_message, siwe_signature }),
      ).toMatchObject({ status: 403, json: { error: { code: 'tcp_port_disabled' } } })
    })
  })

  describe('sni_port, which older clients of the protocol dial for their datagram tunnel', () => {
    test('is the port of the relay’s URL, for leases with UDP only', async () => {
      expect(await relay.register('game', { udp_enabled: true })).toMatchObject({ sni_port: relay.port })
      expect(await relay.register('tcp', { tcp_enabled: true })).not.toHaveProperty('sni_port')
      expect(await relay.register('web')).not.toHaveProperty('sni_port')
    })
  })

  describe('a lease', () => {
    test('has TCP and UDP ports of its own, independent of one another, and says so', async () => {
      const lease = await relay.register('both', { tcp_enabled: true, udp_enabled: true })
      const [tcp, udp] = [portOf(lease.tcp_addr), portOf(lease.udp_addr)]
      expect(lease).toMatchObject({
        tcp_enabled: true,
        tcp_addr: addressOf(tcp),
        udp_enabled: true,
        udp_addr: addressOf(udp),
      })
      const other = await relay.register('udp', { udp_enabled: true })
      expect(other).toMatchObject({ tcp_enabled: false, udp_addr: addressOf(udp + 1) })
      expect(other).not.toHaveProperty('tcp_addr')
      expect(await isListening(tcp)).toBe(true)
      expect(await isFree(udp)).toBe(false)
      expect([await stateOf('both'), await stateOf('udp')]).toEqual([
        expect.objectContaining({
          name: 'both',
          udp_enabled: true,
          tcp_enabled: true,
          tcp_addr: lease.tcp_addr,
        }),
        expect.not.objectContaining({ tcp_addr: expect.anything() }),
      ])
    })

    test('that another process has the port of gets the next one', async () => {
      const last = portOf((await relay.register('last', { tcp_enabled: true })).tcp_addr)
      const server = createServer().listen(last + 1)
      await once(server, 'listening')
      expect((await relay.register('next', { tcp_enabled: true })).tcp_addr).toBe(addressOf(last + 2))
      server.close()
    })

    test('keeps its port when it is renewed or replaced, and finds it again after it was lost', async () => {
      const account = newAccount()
      const ports = { account, tcp_enabled: true, udp_enabled: true }
      const lease = await relay.register('sticky', ports)
      const [tcp, udp] = [portOf(lease.tcp_addr), portOf(lease.udp_addr)]
      await relay.call('POST', '/sdk/renew', { access_token: lease.access_token })
      expect(await isListening(tcp)).toBe(true)
      const replaced = await relay.register('sticky', ports)
      expect(replaced).toMatchObject({ tcp_addr: lease.tcp_addr, udp_addr: lease.udp_addr })
      expect(await isListening(tcp)).toBe(true)
      await relay.call('POST', '/sdk/unregister', { access_token: replaced.access_token })
      expect(await isListening(tcp)).toBe(false)
      expect(await isFree(udp)).toBe(true)
      expect((await relay.register('other', { tcp_enabled: true })).tcp_addr).not.toBe(lease.tcp_addr)
      expect((await relay.register('sticky', ports)).tcp_addr).toBe(lease.tcp_addr)
    })

    test('that is replaced by one without ports loses them', async () => {
      const account = newAccount()
      const lease = await relay.register('plain', { account, tcp_enabled: true, udp_enabled: true })
      expect(await isServed(lease)).toEqual([true, true])
      await relay.register('plain', { account })
      expect(await isServed(lease)).toEqual([false, false])
    })

    test('that is banned, denied or not approved is not reached, nor one whose plane is shut; else it is again', async () => {
      const lease = await relay.register('shut', { tcp_enabled: true, udp_enabled: true })
      const identity_key = `shut:${lease.identity.address}`
      const update = (fields: object) =>
        relay.call('POST', '/api/policy/leases', { identity_key, ...fields }, ADMIN)
      const shut = { enabled: false, max_leases: 0 }
      const changes: [() => Promise<Answer>, () => Promise<Answer>][] = [
        [() => update({ is_banned: true }), () => update({ is_banned: false })],
        [() => update({ is_denied: true }), () => update({ is_denied: false })],
        [() => policy({ approval_mode: 'manual' }), () => update({ is_approved: true })],
        [() => policy({ tcp_port: shut, udp: shut }), () => policy({})],
      ]
      for (const [close, open] of changes) {
        await close()
        expect(await isServed(lease)).toEqual([false, false])
        await open()
        await expect.poll(() => isServed(lease)).toEqual([true, true])
      }
    })

    test('its visitors are cut off when the plane is shut, and get nothing while nobody is ready (protocol §9.2.3, §21.1.5)', async () => {
      const { tcp_addr } = await relay.register('cut', { tcp_enabled: true })
      const visitor = connect({ host: '127.0.0.1', port: portOf(tcp_addr) })
      await once(visitor, 'connect')
      visitor.on('error', () => {})
      visitor.resume()
      const closed = once(visitor, 'close')
      await policy({ tcp_port: { enabled: false, max_leases: 0 } })
      await closed
      expect(visitor.bytesRead).toBe(0)
    })

    test.each([
      ['is cut off by a reset when the session is', 'abort', 'ECONNRESET'],
      ['ends in order when the session does', 'end', undefined],
    ] as const)('its visitor %s', async (_, leave, code) => {
      const lease = await relay.register(`leave-${leave}`, { tcp_enabled: true })
      const [, open] = CARRIERS[0]!
      const session = await open(relay, lease.reverse_endpoint.capability)
      const visitor = connect({ host: '127.0.0.1', port: portOf(lease.tcp_addr) })
      const over = Promise.race([once(visitor, 'end').then(() => undefined), once(visitor, 'never')]).catch(
        (error: NodeJS.ErrnoException) => error.code,
      )
      while ((await session.read(1))[0] !== MARKER.raw);
      await session.write(Buffer.from('a part'))
      const [part] = await once(visitor, 'data')
      expect(String(part)).toBe('a part')
      await session[leave]()
      expect(await over).toBe(code)
      visitor.destroy()
    })

    test('renews as what it is: another transport is a mismatch and changes nothing (protocol §6.2.2)', async () => {
      const { access_token, expires_at } = await relay.register('match', { tcp_enabled: true })
      const renew = (fields: object) =>
        relay.call('POST', '/sdk/renew', { access_token, ttl: 600, ...fields })
      for (const fields of [
        { tcp_enabled: false },
        { udp_enabled: true },
        { tcp_enabled: true, udp_enabled: true },
      ])
        expect(await renew(fields)).toMatchObject({
          status: 409,
          json: { error: { code: 'transport_mismatch' } },
        })
      expect(await stateOf('match')).toMatchObject({ expires_at })
      expect(await renew({ tcp_enabled: true, udp_enabled: false })).toMatchObject({ status: 200 })
    })
  })
})

describe('relays of their own', () => {
  afterEach(() => relay.close())

  wholeOnly(test, 'clock')('finds its ports again at a relay that was restarted', async () => {
    await start(2)
    const account = newAccount()
    const first = portOf((await relay.register('before', { tcp_enabled: true })).tcp_addr)
    const lease = await relay.register('restart', { account, tcp_enabled: true })
    expect(lease.tcp_addr).toBe(addressOf(first + 1))
    await relay.stop()
    const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + 1}` }
    relay = await startTestRelay({ ...BOTH, ...range }, { directory: relay.directory })
    await expect(relay.register('other', { tcp_enabled: true })).rejects.toThrow('tcp_port_exhausted')
    expect((await relay.register('restart', { account, tcp_enabled: true })).tcp_addr).toBe(lease.tcp_addr)
  })

  test('is 443 where the URL has none, wherever the relay itself listens', async () => {
    await start(1, { ...BOTH, SVC_URL: 'https://relay.localhost', SNI_PORT: `${await freePort()}` })
    expect(await relay.register('game', { udp_enabled: true })).toMatchObject({ sni_port: 443 })
  })
})
