// A relay asks peers whether they are gateways: those that never answer keep it from none that does.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { dialPeer } from '../../src/features/overlay/dial-peer.ts'
import { AvailableGateways } from '../../src/features/overlay/gateways/available-gateways.ts'
import { GATEWAY_PROBES_PARALLEL_MAX } from '../../src/features/overlay/limits.ts'
import type { OverlayNetwork, OverlayPeer } from '../../src/features/overlay/overlay-network.ts'

const TIMES = { intervalMs: 100, failedMaxMs: 800, tickMs: 10, deadlineMs: 200 }
const HOST = '127.0.94.1'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function listen(server: Server): Promise<number> {
  server.listen(0, HOST)
  await once(server, 'listening')
  ends.push(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Takes connections, and says nothing. */
const silent = (): Promise<number> =>
  listen(createTcpServer((socket) => void socket.on('error', () => {}).resume()))
const answering = (answer: (response: ServerResponse) => void): Promise<number> =>
  listen(createServer((_request, response) => answer(response)))

function peerAt(port: number, identity: string): OverlayPeer {
  return { identity, origin: `https://${identity}.example`, overlayAddress: HOST, port }
}

/** Asks these peers. @returns how often each was asked, by its identity, and the times */
function ask(peers: readonly OverlayPeer[]): { gateways: AvailableGateways; asked: Map<string, number[]> } {
  const asked = new Map<string, number[]>()
  const network: Partial<OverlayNetwork> = {
    isUp: true,
    peers: () => peers,
    peerOf: (identity) => peers.find((peer) => peer.identity === identity),
    connect: ({ overlayAddress, port, identity }, signal) => {
      asked.set(identity, [...(asked.get(identity) ?? []), performance.now()])
      return dialPeer({ host: overlayAddress, port, localAddress: HOST }, signal)
    },
  }
  const gateways = new AvailableGateways(network as OverlayNetwork, TIMES)
  ends.push(() => gateways.close())
  gateways.start()
  return { gateways, asked }
}

test('peers that never answer do not keep a relay from asking those that do', async () => {
  const silentPort = await silent()
  const crowd = Array.from({ length: 4 * GATEWAY_PROBES_PARALLEL_MAX }, (_, n) =>
    peerAt(silentPort, `0xs${n}`),
  )
  const honest = peerAt(await answering((response) => response.end()), '0xhonest')
  const { gateways, asked } = ask([...crowd, honest])
  await vi.waitFor(() => expect([...gateways]).toEqual([honest]))
  await vi.waitFor(() => expect(asked.get('0xhonest')!.length).toBeGreaterThan(4))
  expect([...gateways]).toEqual([honest])
  // Nobody has more than its turn.
  for (const { identity } of crowd) expect(asked.get(identity)!.length).toBeLessThanOrEqual(6)
})

test('a peer that fails is asked less and less often, one that answers as often as before', async () => {
  let isFull = false
  let isThere = false
  const port = await answering((response) => {
    if (!isThere) response.destroy()
    else response.writeHead(isFull ? 503 : 200).end()
  })
  const peer = peerAt(port, '0xa')
  const { gateways, asked } = ask([peer])
  await vi.waitFor(() => expect(asked.get('0xa')?.length).toBe(5))
  const times = asked.get('0xa')!
  const pauses = times.slice(1).map((at, n) => at - times[n]!)
  for (const [n, least] of [200, 400, 800, 800].entries()) expect(pauses[n]).toBeGreaterThan(least - 20)
  isThere = true
  await vi.waitFor(() => expect([...gateways]).toEqual([peer]))
  isFull = true
  await vi.waitFor(() => expect([...gateways]).toEqual([]))
})

test('nobody is asked after the end, also when the overlay comes up only then', async () => {
  const peer = peerAt(await answering((response) => response.end()), '0xa')
  const { gateways, asked } = ask([peer])
  await vi.waitFor(() => expect([...gateways]).toEqual([peer]))
  gateways.close()
  const count = asked.get('0xa')!.length
  gateways.start()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(asked.get('0xa')!.length).toBe(count)
})
