// The addresses of UDP visitors at a service, from a real relay: over both QUIC clients, and in the output of `svc`.

import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishOn } from '@svc/sdk-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { datagramCarrier } from '../../src/datagram/datagram-carrier.ts'
import { type DialQuic, dialInWorker, dialNativeOrWasm } from '../../src/datagram/quic-in-worker.ts'
import type { UdpFlow } from '../../src/index.ts'
import { nodePlatform } from '../../src/platform.ts'
import { exposeAt, TCP_PORTS, TCP_SETTINGS, withTunnel } from '../support/exposed.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'
import { reported, runHere } from '../support/svc.ts'
import { echo, udpService } from '../support/udp.ts'

const RETRY_MS = 100

const relay = useStarted(async () =>
  startTestRelay({ ...TCP_SETTINGS(await freeRange(TCP_PORTS)), UDP_ENABLED: 'true' }),
)

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function service() {
  const started = await udpService(echo)
  open.push(started.close)
  return started
}

/** Sends from an address until the echo comes back. @returns the port that it was sent from */
async function visitFrom(address: string, udpAddress: string | undefined): Promise<number> {
  const socket = createSocket('udp4')
  open.push(() => socket.close())
  socket.bind(0, address)
  await once(socket, 'listening')
  const send = (): void => socket.send('hello', Number(udpAddress!.split(':').at(-1)), '127.0.0.1')
  const again = setInterval(send, RETRY_MS)
  send()
  await once(socket, 'message')
  clearInterval(again)
  return socket.address().port
}

const remoteAt = (address: string, port: number) => ({ address, port, reportedBy: 'relay' })

describe.each<[string, DialQuic]>([
  ['native', dialNativeOrWasm],
  ['WebAssembly', dialInWorker],
])('with the %s client', (_name, dial) => {
  it('each flow has the visitor’s address and the local port', async () => {
    const { ca } = relay
    const { port, clients } = await service()
    const flows: UdpFlow[] = []
    const identity = Uint8Array.from(randomBytes(32))
    const openDatagrams = datagramCarrier(
      { host: '127.0.0.1', port },
      { ca, onError: () => {}, dial, visitorAddress: true, onFlow: (flow) => flows.push(flow) },
    )
    const site = await withTunnel(() =>
      publishOn(
        { ...nodePlatform({ ca, identity, carrier: 'native' }), openDatagrams },
        {
          relay: relay.origin,
          name: `t${randomBytes(6).toString('hex')}`,
          identity,
          visitorAddress: true,
          fetch: () => new Response(),
        },
      ),
    )
    open.push(() => site.close())
    const expected = []
    for (const address of ['127.0.0.2', '127.0.0.9'])
      expected.push(remoteAt(address, await visitFrom(address, site.udpAddress)))
    expect(flows.map(({ remote }) => remote)).toEqual(expected)
    expect(flows.map(({ localPort }) => `127.0.0.1:${localPort}`)).toEqual([...clients])
  })
})

describe('expose', () => {
  it('calls onUdpFlow before the service gets the first datagram', async () => {
    const order: string[] = []
    const { port } = await udpService((payload, send) => {
      order.push('datagram')
      send(payload)
    })
    const exposure = await exposeAt(relay, {
      udp: port,
      onUdpFlow: ({ remote }) => order.push(`flow from ${remote?.address}`),
    })
    open.push(() => exposure.close())
    await visitFrom('127.0.0.7', exposure.sites[0]!.udpAddress)
    expect(order.slice(0, 2)).toEqual(['flow from 127.0.0.7', 'datagram'])
  })

  it('has no address with visitorAddress: false', async () => {
    const flows: UdpFlow[] = []
    const { port } = await service()
    const exposure = await exposeAt(relay, {
      udp: port,
      visitorAddress: false,
      onUdpFlow: (flow) => flows.push(flow),
    })
    open.push(() => exposure.close())
    await visitFrom('127.0.0.7', exposure.sites[0]!.udpAddress)
    expect(flows).toEqual([{ remote: undefined, localPort: expect.any(Number) }])
  })
})

describe('svc', () => {
  async function exposed(args: string[]) {
    const home = await mkdtemp(join(tmpdir(), 'svc-udp-flows-'))
    open.push(() => rm(home, { recursive: true }))
    const { port, clients } = await service()
    const at = ['--relay', relay.origin, '--ca', relay.caFile]
    const run = runHere(home, ['expose', '--udp', String(port), ...at, ...args])
    open.push(run.stop)
    return { run, clients }
  }

  it.each([
    ['off', {}],
    ['short', { address: '127.0.0.0/24' }],
    ['full', { address: '127.0.0.7', port: expect.any(Number) }],
  ])('--json has an event for each flow, with --log-addresses %s', async (how, shown) => {
    const { run, clients } = await exposed(['--json', '--log-addresses', how])
    await visitFrom('127.0.0.7', (await reported(run, 'online')).udp_address)
    const flow = await reported(run, 'flow')
    const [client] = clients
    expect(flow).toEqual({ event: 'flow', local_port: Number(client!.split(':').at(-1)), ...shown })
  })

  it('prints a line for each', async () => {
    const { run } = await exposed([])
    await vi.waitUntil(() => run.out.some((line) => line.includes('udp://')))
    const address = run.out.join('\n').match(/udp:\/\/(\S+)/)![1]
    await visitFrom('127.0.0.7', address)
    await vi.waitUntil(() =>
      run.out.some((line) => /^udp {2}127\.0\.0\.0\/24 comes from port \d+$/.test(line)),
    )
  })
})
