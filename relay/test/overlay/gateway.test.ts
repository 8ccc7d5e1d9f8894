// The two sides of gateways by themselves: what a gateway does before and behind its checks, and what the ingress remembers.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Lease } from '../../src/core/lease/lease.ts'
import { INTERIM_RESPONSES_MAX } from '../../src/core/outbound/interim-responses.ts'
import { Gateway } from '../../src/features/overlay/gateways/gateway.ts'
import { GatewaysOfLeases } from '../../src/features/overlay/gateways/gateways-of-leases.ts'
import type { IngressIdentities } from '../../src/features/overlay/gateways/ingress-identities.ts'
import { SourceLimits } from '../../src/features/overlay/gateways/source-limits.ts'
import {
  FAILED_GATEWAY_MS,
  FAILED_GATEWAYS_MAX,
  GATEWAY_SESSIONS_PER_INGRESS_MAX,
  PEER_ANSWER_MAX_BYTES,
} from '../../src/features/overlay/limits.ts'
import type { OverlayNetwork, OverlayPeer } from '../../src/features/overlay/overlay-network.ts'
import type { VerifiedRelay } from '../../src/features/overlay/verified-relays.ts'
import { inventRelay } from '../support/descriptors.ts'

const CARRY_MS = 300
const PEER: OverlayPeer = {
  identity: '0xb',
  origin: 'https://b.example',
  overlayAddress: '127.0.0.1',
  port: 1,
}
const request = { headers: {} } as IncomingMessage
const servers: Server[] = []
const sockets: Socket[] = []

afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/** A client's connection, and what was written to it. */
function client(): { socket: Duplex; written: Buffer[] } {
  const written: Buffer[] = []
  const socket = new Duplex({
    read: () => {},
    write: (chunk, _encoding, done) => {
      written.push(chunk)
      done()
    },
  })
  return { socket, written }
}

/** A gateway whose ingress relay answers every connection so. */
async function gatewayTo(answer: (socket: Socket) => void, isValid = true) {
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const network = { isUp: true, connect: async () => connect({ port, host: '127.0.0.1' }) }
  const verify = vi.fn(async () => (isValid ? { peer: PEER, claims: {} } : undefined))
  const identities = { verify } as unknown as IngressIdentities
  const gateway = new Gateway(network as unknown as OverlayNetwork, identities, new SourceLimits(), CARRY_MS)
  return { gateway, verify }
}

const carry = (gateway: Gateway, socket: Duplex = client().socket, clientIp = '192.0.2.1') =>
  gateway.carry({ request, protocol: 'raw', capability: 'c', clientIp, socket, tcp: undefined })

describe('a gateway', () => {
  test('refuses beyond its limits before it looks at a signature', async () => {
    const { gateway, verify } = await gatewayTo(() => {}, false)
    vi.useFakeTimers({ toFake: ['performance'] })
    for (let n = 0; n < 16; n++) await expect(carry(gateway)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(verify).toHaveBeenCalledTimes(16)
    for (let n = 0; n < 100; n++) await expect(carry(gateway)).rejects.toMatchObject({ status: 429 })
    expect(verify).toHaveBeenCalledTimes(16)
    await expect(carry(gateway, undefined, '192.0.2.2')).rejects.toMatchObject({ code: 'unauthorized' })
    expect(gateway.limits.outbound).toBe(0)
  })

  test('joins what the ingress took, and gives the place back when that ends', async () => {
    const { gateway } = await gatewayTo((socket) =>
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\nX-Other: x\r\n\r\nhello',
      ),
    )
    const { socket, written } = client()
    await carry(gateway, socket)
    await vi.waitFor(() => expect(Buffer.concat(written).toString()).toMatch(/hello$/))
    expect(Buffer.concat(written).toString()).toBe(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: raw\r\n\r\nhello',
    )
    expect([gateway.sessions, gateway.limits.outbound]).toEqual([1, 1])
    sockets[0]!.resetAndDestroy()
    await vi.waitFor(() => expect([gateway.sessions, gateway.limits.outbound]).toEqual([0, 0]))
    expect(socket.destroyed).toBe(true)
  })

  test('takes no answer behind interim responses without an end', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(INTERIM_RESPONSES_MAX + 1)
    const { gateway } = await gatewayTo((socket) =>
      socket.write(`${interim}HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n`),
    )
    await expect(carry(gateway)).rejects.toMatchObject({ code: 'feature_unavailable' })
    expect(gateway.limits.outbound).toBe(0)
  })

  test('keeps room for the leases of other relays than one that brings many sessions', async () => {
    const { gateway, verify } = await gatewayTo((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n'),
    )
    const max = GATEWAY_SESSIONS_PER_INGRESS_MAX
    for (let n = 0; n < max; n++) await carry(gateway, undefined, `192.0.2.${n}`)
    await expect(carry(gateway, undefined, '198.51.100.9')).rejects.toMatchObject({ code: 'rate_limited' })
    expect([gateway.limits.outbound, gateway.limits.refused.ingress_sessions]).toEqual([max, 1])
    verify.mockResolvedValueOnce({ peer: { ...PEER, identity: '0xc' }, claims: {} })
    await carry(gateway, undefined, '198.51.100.9')
    sockets[0]!.resetAndDestroy()
    await vi.waitFor(() => expect(gateway.sessions).toBe(max))
    await carry(gateway, undefined, '198.51.100.9')
  })

  test('cuts the sessions of a banned relay or address, and no others', async () => {
    const { gateway } = await gatewayTo((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n'),
    )
    const [one, other] = [client().socket, client().socket]
    await carry(gateway, one)
    await carry(gateway, other, '192.0.2.2')
    gateway.cut((_peer, ip) => ip === '192.0.2.2')
    await vi.waitFor(() => expect(gateway.sessions).toBe(1))
    expect([one.destroyed, other.destroyed]).toEqual([false, true])
    gateway.cut(({ identity }) => identity === '0xb')
    await vi.waitFor(() => expect(gateway.limits.outbound).toBe(0))
  })

  test.each([
    [
      'refuses with a code',
      '{"ok":false,"error":{"code":"lease_not_found","message":"x"}}',
      404,
      'lease_not_found',
    ],
    [
      'refuses with an unknown code',
      '{"ok":false,"error":{"code":"constructor"}}',
      503,
      'feature_unavailable',
    ],
    ['refuses with no JSON', 'nonsense', 503, 'feature_unavailable'],
    ['answers at great length', 'x'.repeat(PEER_ANSWER_MAX_BYTES + 1), 503, 'feature_unavailable'],
  ])('passes on what the ingress says, which %s', async (_, body, status, code) => {
    const { gateway } = await gatewayTo((socket) =>
      socket.end(`HTTP/1.1 404 \r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`),
    )
    await expect(carry(gateway)).rejects.toMatchObject({ status, code })
    expect(gateway.limits.outbound).toBe(0)
  })

  test.each([
    ['says nothing', () => {}],
    ['closes', (socket: Socket) => socket.destroy()],
    ['speaks no HTTP', (socket: Socket) => socket.write('\x16\x03\x01hello\r\n\r\n')],
  ])('gives up on an ingress that %s', async (_, answer) => {
    const { gateway } = await gatewayTo(answer)
    await expect(carry(gateway)).rejects.toMatchObject({ code: 'feature_unavailable' })
    expect([gateway.counts.failed, gateway.limits.outbound]).toEqual([1, 0])
  })

  test('gives up when its client leaves', async () => {
    const { gateway } = await gatewayTo(() => {})
    const { socket } = client()
    const carried = expect(carry(gateway, socket)).rejects.toMatchObject({ code: 'feature_unavailable' })
    socket.destroy()
    await carried
    expect(gateway.limits.outbound).toBe(0)
  })

  test.each(['', 'x', 'a.b.c', 'a.bnVsbA.c', `a.${'x'.repeat(9000)}.c`])(
    'takes %j for no delegated capability',
    async (text) => {
      const { gateway } = await gatewayTo(() => {})
      expect(gateway.isDelegated(text)).toBe(false)
    },
  )
})

describe('the choice of gateways', () => {
  const lease = () => ({}) as Lease

  function choose(count: number) {
    const invented = inventRelay()
    const relays = new Map<string, VerifiedRelay>()
    for (let n = 0; n < count; n++) {
      const origin = `https://g${n}.example`
      relays.set(`0x${n}`, { origin, address: `0x${n}`, descriptor: invented.describe(origin) })
    }
    const peer = ({ address, origin }: VerifiedRelay): OverlayPeer => ({ ...PEER, identity: address, origin })
    const gateways = new GatewaysOfLeases({
      identity: '0xown',
      origin: 'https://own.example',
      relays: {
        [Symbol.iterator]: () => relays.values(),
        at: (origin) => [...relays.values()].find((relay) => relay.origin === origin),
        of: (address) => relays.get(address),
        keyOf: async () => undefined,
      },
      available: {
        [Symbol.iterator]: function* () {
          for (const relay of relays.values()) yield peer(relay)
        },
        get: (identity) => {
          const relay = relays.get(identity)
          return relay && peer(relay)
        },
      },
    })
    return { gateways, relays }
  }

  test('moves a lease whose gateway is gone, to the direct endpoint when there is no other, and leaves it there', () => {
    const { gateways, relays } = choose(1)
    const one = lease()
    expect(gateways.of(one)?.origin).toBe('https://g0.example')
    expect(gateways.isChosen(one, '0x0')).toBe(true)
    const [relay] = relays.values()
    relays.clear()
    expect(gateways.of(one)).toBeUndefined()
    expect(gateways.isChosen(one, '0x0')).toBe(false)
    relays.set('0x0', relay!)
    expect(gateways.of(one)).toBeUndefined()
    gateways.failed(one, 'https://own.example/sdk/connect')
    expect(gateways.of(one)?.origin).toBe('https://g0.example')
  })

  test('remembers the last 16 that failed for 5 minutes, and does not believe other URLs', () => {
    vi.useFakeTimers()
    const { gateways } = choose(FAILED_GATEWAYS_MAX + 1)
    const one = lease()
    const seen = new Set<string>()
    for (let n = 0; n <= FAILED_GATEWAYS_MAX; n++) {
      const { origin } = gateways.of(one)!
      seen.add(origin)
      gateways.failed(one, 'https://g99.example/sdk/connect')
      gateways.failed(one, 'no URL')
      expect(gateways.of(one)?.origin).toBe(origin)
      gateways.failed(one, `${origin}/sdk/connect`)
    }
    expect(seen.size).toBe(FAILED_GATEWAYS_MAX + 1)
    // The one that failed first is forgotten by now.
    expect(gateways.of(one)?.origin).toBe([...seen][0])
    vi.advanceTimersByTime(FAILED_GATEWAY_MS)
    gateways.failed(one, `${[...seen][0]}/sdk/connect`)
    expect(gateways.of(one)).toBeDefined()
  })

  test('of one lease says nothing of another', () => {
    const { gateways } = choose(1)
    const [one, other] = [lease(), lease()]
    gateways.of(one)
    gateways.failed(one, 'https://g0.example/sdk/connect')
    expect(gateways.of(one)).toBeUndefined()
    expect(gateways.of(other)?.origin).toBe('https://g0.example')
  })
})
