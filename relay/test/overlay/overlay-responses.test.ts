// Responses of the overlay server that nobody reads: they end with their connection, and take memory of their peer's share alone.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { DiscoveryResponse } from '@svc/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { BODY_CHUNK_BYTES, type BodyWriter } from '../../src/core/api/http/body-writer.ts'
import { PIPELINED_REQUESTS_MAX } from '../../src/core/api/http/open-responses.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RequestMemory } from '../../src/core/rate-limit/request-memory.ts'
import { createDiscoveryList } from '../../src/features/discovery/handlers.ts'
import { overlayDiscovery } from '../../src/features/overlay/overlay-discovery.ts'
import type { OverlayNetwork, OverlayPeer } from '../../src/features/overlay/overlay-network.ts'
import {
  OVERLAY_DEADLINES,
  type OverlayHandler,
  OverlayServer,
} from '../../src/features/overlay/overlay-server.ts'
import { freePort } from '../support/relay.ts'

const DEADLINES = { ...OVERLAY_DEADLINES, writeMs: 500 }
/** Room for three responses of a client, each of which holds two pieces. */
const perClient = 3 * 2 * BODY_CHUNK_BYTES
const rows = (): [string, OverlayHandler][] =>
  overlayDiscovery(listFor, new RequestMemory({ perClient, total: 2 * perClient }))

/** More than the kernel keeps for a peer that does not read. */
const LIST: DiscoveryResponse = {
  protocol_version: '1',
  relays: Array(6_000).fill({ name: 'y'.repeat(700) }),
} as never
const OWN = '127.0.93.1'
const PEER: OverlayPeer = {
  identity: '0xb',
  origin: 'https://b.example',
  overlayAddress: '127.0.0.1',
  port: 1,
}

const GET = 'GET /discovery HTTP/1.1\r\nHost: x\r\n\r\n'
const UPGRADE = 'GET /join HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n'

let port: number
let server: OverlayServer
let begun = 0
let running = 0
const upgrade = vi.fn()

async function start(): Promise<void> {
  const handlers = new Map<string, OverlayHandler>()
  for (const [name, handler] of rows())
    handlers.set(name, async (peer, request, response) => {
      begun += 1
      running += 1
      try {
        await handler(peer, request, response)
      } finally {
        running -= 1
      }
    })
  const network = { address: OWN, isUp: true, peerAt: () => PEER } as Partial<OverlayNetwork>
  const table = { handlers, upgrades: new Map([['/join', upgrade]]) }
  server = new OverlayServer(network as OverlayNetwork, table, 64, createLog('silent'), DEADLINES)
  port = await freePort()
  await server.listen(port)
}

afterEach(async () => {
  await server?.close()
  upgrade.mockReset()
  begun = 0
})

async function ask(text: string): Promise<Socket> {
  const socket = connect({ host: OWN, port })
  socket.on('error', () => {}).pause()
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const listFor = (writer: BodyWriter) => createDiscoveryList({ prepare: async () => () => LIST }, writer)

test('responses that wait for one another, with an upgrade behind them, end with their connection', async () => {
  await start()
  const socket = await ask(GET.repeat(3) + UPGRADE)
  await vi.waitFor(() => expect(begun).toBe(1))
  socket.destroy()
  await vi.waitFor(() => expect(running).toBe(0))
  expect(begun).toBe(1)
  expect(upgrade).not.toHaveBeenCalled()
  // Nor do they hold the memory that responses may take.
  const next = await ask(GET)
  expect(`${(await once(next.resume(), 'data'))[0]}`).toMatch(/^HTTP\/1\.1 200 /)
  next.destroy()
})

test('a peer that reads nothing is cut, also behind an upgrade that was refused', async () => {
  await start()
  for (const text of [GET.repeat(3), GET.repeat(3) + UPGRADE]) {
    await ask(text)
    await vi.waitFor(() => expect(server.connections).toBe(1))
    await vi.waitFor(() => expect(server.connections + running).toBe(0))
  }
})

test('a bridge that passes nothing stays', async () => {
  await start()
  upgrade.mockImplementation((_peer, _request, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.write(Buffer.alloc(16 * 1024 * 1024))
  })
  const bridge = await ask(UPGRADE)
  await vi.waitFor(() => expect(upgrade).toHaveBeenCalledOnce())
  const silent = await ask(GET.repeat(3))
  await vi.waitFor(() => expect(server.connections).toBe(2))
  await vi.waitFor(() => expect(server.connections).toBe(1))
  bridge.resume()
  expect(bridge.destroyed).toBe(false)
  silent.destroy()
})

test('a connection has so many requests at once', async () => {
  await start()
  const head = 'HEAD /slow HTTP/1.1\r\nHost: x\r\n\r\n'
  const many = (await ask(GET + head.repeat(PIPELINED_REQUESTS_MAX))).resume()
  await vi.waitFor(() => expect(many.closed).toBe(true))
  const allowed = (await ask(GET + head.repeat(PIPELINED_REQUESTS_MAX - 1))).resume()
  await vi.waitFor(() => expect(allowed.bytesRead).toBeGreaterThan(4_000_000))
  expect(allowed.destroyed).toBe(false)
})

test('what a peer does not read takes no share of another one with a close address', async () => {
  const [[, handler]] = rows() as [[string, OverlayHandler]]
  const answered: string[] = []
  const http = createServer((request, response) => {
    const identity = request.headers.host!
    const sent = Promise.resolve(handler({ ...PEER, identity }, request, response))
    const timer = setTimeout(() => answered.push('waits'), 100)
    sent.catch(({ code }) => {
      clearTimeout(timer)
      answered.push(code)
      response.destroy()
    })
  }).listen(0, OWN)
  await once(http, 'listening')
  port = (http.address() as AddressInfo).port
  for (let n = 0; n < 4; n++) {
    await ask(GET)
    await vi.waitFor(() => expect(answered).toHaveLength(n + 1))
  }
  expect(answered).toEqual(['waits', 'waits', 'waits', 'rate_limited'])
  const other = await ask(GET.replace('Host: x', 'Host: y'))
  expect(`${(await once(other.resume(), 'data'))[0]}`).toMatch(/^HTTP\/1\.1 200 /)
  http.closeAllConnections()
  http.close()
})
