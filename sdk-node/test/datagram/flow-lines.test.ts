// The lines about flows at the carrier, from a relay of the test's own: beside its answer, late, and across registrations.

import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { encodeDatagram } from '@svc/protocol'
import type { DatagramCarrier, TunnelLease } from '@svc/sdk-core'
import { afterEach, expect, it, vi } from 'vitest'
import { datagramCarrier } from '../../src/datagram/datagram-carrier.ts'
import type { UdpFlow } from '../../src/datagram/local-flows.ts'
import type { QuicEvents } from '../../src/datagram/quic.ts'
import type { DialQuic } from '../../src/datagram/quic-in-worker.ts'
import { udpService } from '../support/udp.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const ANSWER = '{"ok":true,"heartbeat":true}'
const lineOf = (flow: number, port: number): string =>
  `{"flow":${flow},"address":"192.0.2.1","port":${port}}\n`

interface FakeTunnel {
  events: QuicEvents
  stream: Duplex
}

/** @param behindAnswer what the relay sends in the same packet as its answer */
async function opened({ behindAnswer = '', extensions = ['visitor_address'] } = {}) {
  const got: { payload: string; from: number }[] = []
  const service = await udpService((payload) => got.push({ payload: String(payload), from: 0 }))
  open.push(service.close)
  const tunnels: FakeTunnel[] = []
  const dial: DialQuic = async (_target, events) => {
    const stream = new Duplex({
      read: () => {},
      write(_chunk, _encoding, done) {
        // The hello; after that, heartbeats come back at once.
        const hello = tunnels.at(-1)?.stream !== stream
        if (hello) tunnels.push({ events, stream })
        this.push(hello ? `${ANSWER}${behindAnswer}` : _chunk)
        done()
      },
    })
    return { stream, datagramMaxBytes: 1150, send: () => true, ping: () => {}, close: () => stream.destroy() }
  }
  const lease: TunnelLease = { accessToken: 'token', extensions: new Set(extensions), answer: {} }
  const flows: UdpFlow[] = []
  const carrier: DatagramCarrier = await datagramCarrier(
    { host: '127.0.0.1', port: service.port },
    { ca: undefined, onError: () => {}, onFlow: (flow) => flows.push(flow), visitorAddress: true, dial },
  )(
    new URL('https://relay.localhost'),
    { lease: () => lease, stale: () => {}, failed: () => {} },
    AbortSignal.timeout(60_000),
  )
  open.push(() => carrier.close())
  const receive = (flowId: number, payload: string): void =>
    tunnels.at(-1)!.events.datagram(encodeDatagram(flowId, Buffer.from(payload)))
  return { service, tunnels, lease, flows, carrier, receive, got }
}

const remotesOf = (flows: UdpFlow[]) => flows.map(({ remote }) => remote?.port)

it('protocol §12.2.8: a line that comes with the answer counts', async () => {
  const { flows, receive } = await opened({ behindAnswer: `${lineOf(1, 11)}${lineOf(2, 22)}` })
  receive(2, 'b')
  receive(1, 'a')
  await vi.waitUntil(() => flows.length === 2)
  expect(new Set(remotesOf(flows))).toEqual(new Set([11, 22]))
})

it('protocol §12.2.10: a datagram that is earlier than its line waits for it, and each flow is told of once', async () => {
  const { flows, receive, tunnels, got, service } = await opened()
  receive(1, 'a')
  tunnels[0]!.stream.push(lineOf(1, 11))
  receive(1, 'b')
  await vi.waitUntil(() => got.length === 2)
  expect(got.map(({ payload }) => payload)).toEqual(['a', 'b'])
  expect(flows).toEqual([
    { remote: { address: '192.0.2.1', port: 11, reportedBy: 'relay' }, localPort: expect.any(Number) },
  ])
  expect([...service.clients]).toEqual([`127.0.0.1:${flows[0]!.localPort}`])
})

it.each([
  ['without its line goes on', ['visitor_address']],
  ['at a relay without the extension does not wait', []],
])('a datagram %s, from nowhere', async (_name, extensions) => {
  const { flows, receive } = await opened({ extensions })
  receive(1, 'a')
  await vi.waitUntil(() => flows.length === 1)
  expect(flows[0]).toEqual({ remote: undefined, localPort: expect.any(Number) })
})

it('protocol §12.2.10: flows live on in the next tunnel, and end with the registration', async () => {
  const { flows, receive, tunnels, lease, carrier, service } = await opened({ behindAnswer: lineOf(1, 11) })
  receive(1, 'a')
  await vi.waitUntil(() => flows.length === 1)
  carrier.wake()
  await vi.waitUntil(() => tunnels.length === 2)
  receive(1, 'b')
  lease.answer = {}
  carrier.wake()
  await vi.waitUntil(() => tunnels.length === 3)
  expect(flows).toHaveLength(1)
  // Another visitor has the number now.
  receive(1, 'c')
  await vi.waitUntil(() => flows.length === 2)
  expect(flows[1]!.localPort).not.toBe(flows[0]!.localPort)
  await vi.waitUntil(() => service.clients.size === 2)
})

it('a relay whose line does not end loses the tunnel, and the next one is opened', async () => {
  const { tunnels } = await opened()
  tunnels[0]!.stream.push(`{${' '.repeat(200)}`)
  await once(tunnels[0]!.stream, 'close')
  await vi.waitUntil(() => tunnels.length === 2)
})
