// A peer refuses an upgrade with an answer that breaks off, or never ends: the request fails, and the relay goes on.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { HOP_UPGRADE, NEIGHBOUR_UPGRADE, PATH } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { INTERIM_RESPONSES_MAX } from '../../src/core/outbound/interim-responses.ts'
import { sendToPeer, upgradeAtPeer } from '../../src/features/overlay/ask-peer.ts'
import type { OverlayNetwork, OverlayPeer } from '../../src/features/overlay/overlay-network.ts'

const DEADLINE_MS = 1_000
/** The head of a refusal, whose body has fewer bytes than it says. */
const REFUSAL = 'HTTP/1.1 503 x\r\nContent-Length: 100\r\n\r\n{'
/** Interim responses, behind which the peer takes what it is asked for. */
const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(INTERIM_RESPONSES_MAX + 1)
const TAKEN = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
const UPGRADED = `HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: ${HOP_UPGRADE}\r\n\r\n`

let answer = REFUSAL
let server: Server
let peer: OverlayPeer
/** True when the peer closes the connection behind the part that it sends. */
let breaksOff = true

const network = {
  connect: async ({ overlayAddress: host, port }: OverlayPeer) => {
    const socket = connect({ host, port })
    await once(socket, 'connect')
    return socket
  },
} as unknown as OverlayNetwork

beforeAll(async () => {
  server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(answer, () => breaksOff && socket.end()))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  peer = {
    identity: '0x00',
    origin: 'https://peer.example',
    overlayAddress: '127.0.0.1',
    port,
  } as OverlayPeer
})

afterAll(() => server.close())
afterEach(() => {
  answer = REFUSAL
})

const UPGRADES = [
  ['a visitor', { path: PATH.hop, upgrade: HOP_UPGRADE }],
  ['a connection of a site', { path: PATH.neighbour, upgrade: NEIGHBOUR_UPGRADE }],
] as const

for (const [what, isCut] of [
  ['breaks off', true],
  ['never ends', false],
] as const) {
  // An unhandled rejection would fail the run: it ends the process of a relay.
  test.each(UPGRADES)(`a peer refuses %s, and its answer ${what}`, async (_what, upgrade) => {
    breaksOff = isCut
    const asked = upgradeAtPeer(network, peer, upgrade, new AbortController().signal, DEADLINE_MS)
    await expect(asked).rejects.toMatchObject({ code: 'feature_unavailable' })
  })

  test(`a peer refuses a hop route, and its answer ${what}`, async () => {
    breaksOff = isCut
    const sent = sendToPeer(network, peer, { method: 'POST', path: PATH.hop, body: {} }, DEADLINE_MS)
    await expect(sent).rejects.toMatchObject({ code: 'feature_unavailable' })
  })
}

test.each([
  ['a hop route', TAKEN, () => sendToPeer(network, peer, { method: 'POST', path: PATH.hop, body: {} })],
  [
    'a visitor',
    UPGRADED,
    () =>
      upgradeAtPeer(network, peer, UPGRADES[0][1], new AbortController().signal).then((it) => it.destroy()),
  ],
])('a peer takes %s, but not behind interim responses without an end', async (_what, taken, ask) => {
  breaksOff = false
  answer = taken
  await ask()
  answer = `${INTERIM}${taken}`
  await expect(ask()).rejects.toMatchObject({ code: 'feature_unavailable' })
})
