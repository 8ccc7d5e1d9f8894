// The overlay server over a given network on loopback addresses: it answers peers alone, within its bounds.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type ClientRequestArgs, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { REQUEST_HEAD_MAX_BYTES } from '@svc/node-kit/http'
import { afterEach, expect, test, vi } from 'vitest'
import { OVERLAY_CONNECTIONS_MAX } from '../../src/core/config/connection-capacity.ts'
import { RelayError } from '../../src/core/errors.ts'
import { createLog } from '../../src/core/log/log.ts'
import { GivenNetwork } from '../../src/features/overlay/given-network.ts'
import {
  OVERLAY_KEEP_ALIVE_MS,
  OVERLAY_PEER_CROWDED_SHARE,
  OVERLAY_PEER_SHARE,
} from '../../src/features/overlay/limits.ts'
import { limitOutbound } from '../../src/features/overlay/outbound-limit.ts'
import {
  OVERLAY_DEADLINES,
  type OverlayDeadlines,
  OverlayServer,
  type OverlayTable,
} from '../../src/features/overlay/overlay-server.ts'
import type { VerifiedRelay } from '../../src/features/overlay/verified-relays.ts'
import { inventRelay } from '../support/descriptors.ts'
import { freePort } from '../support/relay.ts'

/** Patient with requests, and soon aware of peers that have gone. */
const DEADLINES: OverlayDeadlines = {
  ...OVERLAY_DEADLINES,
  requestMs: 60_000,
  requestCheckMs: 50,
  peersCheckMs: 50,
}

/** Of a server that has descriptors for few: 16 of one peer, and 2 when half of them are open. */
const CONNECTIONS_MAX = 64
const OWN = '127.0.90.1'
const B = '127.0.90.2'
const C = '127.0.90.3'
const D = '127.0.90.6'
const STRANGER = '127.0.90.9'
const relays = new Map<string, VerifiedRelay>()
const open = new Set<Socket>()
let server: OverlayServer | undefined
let network: GivenNetwork

async function start(
  table: Partial<OverlayTable> = {},
  connectionsMax: number = CONNECTIONS_MAX,
  deadlines: OverlayDeadlines = DEADLINES,
): Promise<number> {
  const port = await freePort()
  relays.clear()
  for (const [name, supports_overlay] of [
    ['b', true],
    ['c', true],
    ['d', true],
    ['plain', false],
  ] as const) {
    const origin = `https://${name}.example`
    const descriptor = inventRelay().describe(origin, { supports_overlay })
    relays.set(origin, { origin, address: `0x${name}`, descriptor })
  }
  const peers = new Map([
    ['https://b.example', { address: B, port }],
    ['https://c.example', { address: C, port }],
    ['https://d.example', { address: D, port }],
    ['https://plain.example', { address: '127.0.90.4', port }],
    ['https://unknown.example', { address: '127.0.90.5', port }],
  ])
  network = new GivenNetwork(
    { kind: 'given', network: '127.0.90.0/24', address: OWN, port, peers },
    {
      [Symbol.iterator]: () => relays.values(),
      at: (origin) => relays.get(origin),
      keyOf: async () => undefined,
      of: (address) => [...relays.values()].find((relay) => relay.address === address),
    },
  )
  const handlers = new Map([
    [
      'GET /who',
      (peer: { origin: string }, _request: IncomingMessage, response: { end(text: string): void }) =>
        response.end(peer.origin),
    ] as const,
  ])
  server = new OverlayServer(
    network,
    { handlers, upgrades: new Map(), ...table } as OverlayTable,
    connectionsMax,
    createLog('silent'),
    deadlines,
  )
  await server.listen(port)
  return port
}

afterEach(async () => {
  for (const socket of open) socket.destroy()
  await server?.close()
  await network?.close()
})

async function call(
  port: number,
  localAddress: string,
  options: ClientRequestArgs,
): Promise<[number, string]> {
  const sent = request({ host: OWN, port, localAddress, agent: false, ...options }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return [response.statusCode!, Buffer.concat(await response.toArray()).toString()]
}

async function connectFrom(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ host: OWN, port, localAddress })
  open.add(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

test('peers are relays that the operator named, that discovery verified, and that support the overlay (protocol §17.1.1)', async () => {
  await start()
  expect([...network.peers()].map(({ origin }) => origin)).toEqual([
    'https://b.example',
    'https://c.example',
    'https://d.example',
  ])
  expect(network.peerAt(`::ffff:${B}`)?.identity).toBe('0xb')
  expect(network.peerOf('0xplain')).toBeUndefined()
  expect(network.peerAt('nonsense')).toBeUndefined()
})

test('a peer is known by its address, from which the network dials', async () => {
  const port = await start()
  expect(await call(port, B, { path: '/who?x' })).toEqual([200, 'https://b.example'])
  expect(await call(port, C, { path: '/who' })).toEqual([200, 'https://c.example'])
  const dialled = await network.connect({ ...network.peerOf('0xb')!, overlayAddress: OWN, port })
  open.add(dialled)
  expect(dialled.localAddress).toBe(OWN)
})

test('a connection of anybody else is closed at once, unheard (protocol §17.1.3)', async () => {
  const port = await start()
  for (const address of [STRANGER, '127.0.90.4', '127.0.90.5', OWN]) {
    await once(await connectFrom(port, address), 'close')
  }
  expect(server!.refused).toEqual({ no_peer: 4, peer_full: 0, full: 0 })
  expect(server!.connections).toBe(0)
})

test('a relay that is no peer any more is not answered on an open connection', async () => {
  const port = await start()
  const socket = await connectFrom(port, B)
  await vi.waitFor(() => expect(server!.connections).toBe(1))
  relays.delete('https://b.example')
  socket.write('GET /who HTTP/1.1\r\nHost: x\r\n\r\n')
  const heard = vi.fn()
  socket.on('data', heard)
  await once(socket, 'close')
  expect(heard).not.toHaveBeenCalled()
})

/** Answers the upgrade of `/join`, and holds the connection. */
const BRIDGES = {
  upgrades: new Map([
    ['/join', (_peer, _request, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')],
  ]),
} satisfies Partial<OverlayTable>

async function bridgeFrom(port: number, localAddress: string): Promise<Socket> {
  const socket = await connectFrom(port, localAddress)
  socket.write('GET /join HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n')
  await once(socket, 'data')
  return socket
}

test("a bridge ends when its relay is no peer any more, or its address is another one's, and gives its place back", async () => {
  const port = await start(BRIDGES)
  const [b, c] = [await bridgeFrom(port, B), await bridgeFrom(port, C)]
  const relay = relays.get('https://b.example')!
  relays.set(relay.origin, { ...relay, address: '0xother' })
  await vi.waitFor(() => expect(b.closed).toBe(true))
  const other = await bridgeFrom(port, B)
  relays.delete(relay.origin)
  await vi.waitFor(() => expect(other.closed).toBe(true))
  expect(c.closed).toBe(false)
  expect(server!.connections).toBe(1)
  relays.clear()
  await vi.waitFor(() => expect(server!.connections).toBe(0))
})

/** Hundredths of a second until the kernel's next question on the connection from `localPort`; undefined: it asks none. */
async function keepAliveOf(localPort: number, remotePort: number): Promise<number | undefined> {
  const hex = (port: number): string => `:${port.toString(16).padStart(4, '0').toUpperCase()}`
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/))
  const row = rows.find(([, from, to]) => from?.endsWith(hex(localPort)) && to?.endsWith(hex(remotePort)))
  const [kind, left] = row?.[5]?.split(':') ?? []
  return kind === '02' ? Number.parseInt(left!, 16) : undefined
}

test('the kernel asks silent connections whether the other side is there, those of both sides', async () => {
  const port = await start(BRIDGES)
  const listener = createServer().listen(0, OWN)
  await once(listener, 'listening')
  const { port: otherPort } = listener.address() as AddressInfo
  const dialled = await network.connect({ ...network.peerOf('0xb')!, overlayAddress: OWN, port: otherPort })
  open.add(dialled)
  listener.close()
  const bridge = await bridgeFrom(port, B)
  for (const left of [
    await keepAliveOf(dialled.localPort!, otherPort),
    await keepAliveOf(port, bridge.localPort!),
  ]) {
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(OVERLAY_KEEP_ALIVE_MS / 10)
  }
})

test('a peer has so many connections, and few once half of all are open', async () => {
  const port = await start()
  for (let n = 0; n < 16; n++) await connectFrom(port, B)
  await once(await connectFrom(port, B), 'close')
  expect(await call(port, C, { path: '/who' })).toEqual([200, 'https://c.example'])
  await vi.waitFor(() => expect(server!.connections).toBe(16))
  for (let n = 0; n < 16; n++) await connectFrom(port, C)
  expect(server!.refused).toEqual({ no_peer: 0, peer_full: 1, full: 0 })
  for (let n = 0; n < 2; n++) await connectFrom(port, D)
  await once(await connectFrom(port, D), 'close')
  expect(server!.refused).toEqual({ no_peer: 0, peer_full: 2, full: 0 })
})

test('all peers together have so many connections', async () => {
  const port = await start({}, 2)
  const first = await connectFrom(port, B)
  await connectFrom(port, C)
  await once(await connectFrom(port, D), 'close')
  expect(server!.refused).toEqual({ no_peer: 0, peer_full: 0, full: 1 })
  first.destroy()
  await vi.waitFor(() => expect(server!.connections).toBe(1))
  expect(await call(port, D, { path: '/who' })).toEqual([200, 'https://d.example'])
})

test('few relays do not have all connections', () => {
  expect(OVERLAY_PEER_SHARE).toBeLessThanOrEqual(1 / 4)
  expect(OVERLAY_CONNECTIONS_MAX * OVERLAY_PEER_CROWDED_SHARE).toBeLessThanOrEqual(256)
})

test('this relay opens so many connections to others, whatever becomes of them', async () => {
  const port = await start()
  const limited = limitOutbound(network, 2)
  const self = { ...network.peerOf('0xb')!, overlayAddress: OWN, port }
  for (let times = 0; times < 3; times++)
    await expect(limited.connect({ ...self, port: await freePort() })).rejects.toThrow('ECONNREFUSED')
  const listener = createServer().listen(0, OWN)
  await once(listener, 'listening')
  const there = { ...self, port: (listener.address() as AddressInfo).port }
  const sockets = await Promise.all([limited.connect(there), limited.connect(there)])
  for (const socket of sockets) open.add(socket)
  await expect(limited.connect(there)).rejects.toThrow('no room')
  sockets[0]!.destroy()
  await once(sockets[0]!, 'close')
  open.add(await limited.connect(there))
  await expect(limited.connect(there)).rejects.toThrow('no room')
  listener.close()
})

test('a slow head, a large head and no HTTP end the connection', async () => {
  const port = await start({}, CONNECTIONS_MAX, { ...DEADLINES, requestMs: 200 })
  const slow = await connectFrom(port, B)
  slow.resume().write('GET /who HTTP/1.1\r\n')
  await once(slow, 'close')
  const large = await connectFrom(port, B)
  large.resume().write(`GET /who HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(REQUEST_HEAD_MAX_BYTES)}\r\n\r\n`)
  await once(large, 'close')
  const other = await connectFrom(port, B)
  other.resume().write('\x16\x03\x01\x00\x05hello')
  await once(other, 'close')
})

test('other paths and methods have answers, and a fault of the relay tells nothing of itself', async () => {
  const handlers = new Map([
    [
      'POST /thing',
      () => {
        throw new RelayError('rate_limited', 'too much')
      },
    ],
    [
      'DELETE /thing',
      () => {
        throw new Error('secret')
      },
    ],
  ] as const)
  const port = await start({ handlers, upgrades: new Map([['/join', () => {}]]) })
  expect(await call(port, B, { path: '/other' })).toMatchObject([
    404,
    expect.stringContaining('no such path'),
  ])
  expect(await call(port, B, { path: '/thing' })).toMatchObject([
    405,
    expect.stringContaining('POST, DELETE'),
  ])
  expect(await call(port, B, { path: '/join' })).toMatchObject([400, expect.stringContaining('upgrade')])
  expect(await call(port, B, { path: '/thing', method: 'POST' })).toMatchObject([
    429,
    expect.stringContaining('too much'),
  ])
  const [status, body] = await call(port, B, { path: '/thing', method: 'DELETE' })
  expect(status).toBe(500)
  expect(body).not.toContain('secret')
})

test('it does not listen after it was closed, also when it was about to', async () => {
  const port = await start()
  const isOpen = async (): Promise<boolean> => {
    const socket = connect({ host: OWN, port, localAddress: B })
    open.add(socket)
    socket.on('error', () => {})
    return once(socket, 'connect').then(
      () => true,
      () => false,
    )
  }
  expect(await isOpen()).toBe(true)
  await server!.close()
  await server!.listen(port)
  expect(await isOpen()).toBe(false)
  const another = new OverlayServer(
    network,
    { handlers: new Map(), upgrades: new Map() },
    CONNECTIONS_MAX,
    createLog('silent'),
  )
  await Promise.all([another.listen(port), another.close()])
  expect(await isOpen()).toBe(false)
})

test('it listens when the address can be had at last', async () => {
  const port = await start()
  const later = new OverlayServer(
    network,
    { handlers: new Map(), upgrades: new Map() },
    CONNECTIONS_MAX,
    createLog('silent'),
  )
  const warned = vi.fn()
  process.on('warning', warned)
  for (let times = 0; times < 20; times++) await expect(later.listen(port)).rejects.toThrow('EADDRINUSE')
  await server!.close()
  await later.listen(port)
  await connectFrom(port, B)
  await vi.waitFor(() => expect(later.connections).toBe(1))
  await later.close()
  process.off('warning', warned)
  expect(warned).not.toHaveBeenCalled()
})

test('an upgrade takes over the connection, which a refusal and a cut end', async () => {
  const upgrades = new Map([
    [
      '/join',
      ({ origin }: { origin: string }, _request: IncomingMessage, socket: Socket, head: Buffer) => {
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${origin}${head}`)
      },
    ],
    [
      '/refuse',
      () => {
        throw new RelayError('unauthorized', 'no')
      },
    ],
  ] as const)
  const port = await start({ upgrades } as Partial<OverlayTable>)
  const joined = await connectFrom(port, B)
  joined.write('GET /join HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\nhead')
  let text = ''
  joined.on('data', (bytes) => {
    text += bytes
  })
  await vi.waitFor(() => expect(text).toContain('https://b.examplehead'))
  // Deadlines of requests do not end a bridge.
  await call(port, B, { path: '/who' })
  expect(joined.closed).toBe(false)
  const headers = { Connection: 'Upgrade', Upgrade: 'raw' }
  expect(await call(port, B, { path: '/refuse', headers })).toMatchObject([
    403,
    expect.stringContaining('unauthorized'),
  ])
  const withBody = { ...headers, 'Transfer-Encoding': 'chunked' }
  expect(await call(port, B, { path: '/join', headers: withBody })).toMatchObject([
    400,
    expect.stringContaining('no body'),
  ])
  server!.cut(({ identity }) => identity === '0xc')
  expect(joined.closed).toBe(false)
  server!.cut(({ identity }) => identity === '0xb')
  await vi.waitFor(() => expect(joined.closed).toBe(true))
})
