// Tests how many bytes reach a forged address, played by a socket that never answers, for each byte sent in its name, while
// the service behind the port answers every datagram with 16 KiB.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeDatagram, encodeDatagram } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { openTunnel, type TestTunnel, type Visitor, visitorOf } from '../support/tunnel.ts'

const FACTOR_MAX = 3
/** What a service of a protocol without any care for this answers. */
const ANSWERS = 16
const ANSWER_BYTES = 1024

let relay: TestRelay
let port: number
let accessToken: string
let tunnel: TestTunnel
/** The reason for which the tunnel of this test ended, while the test goes on. */
let ended: string | undefined
beforeAll(async () => {
  const first = await freeRange(2)
  relay = await startTestRelay({ UDP_ENABLED: 'true', MIN_PORT: `${first}`, MAX_PORT: `${first + 1}` })
  const lease = await relay.register('service', { udp_enabled: true })
  port = Number(lease.udp_addr?.split(':').at(-1))
  accessToken = lease.access_token
})
afterAll(() => relay.close())

beforeEach(async () => {
  tunnel = await vi.waitFor(() => openTunnel(relay))
  ended = undefined
  tunnel.closed.then(({ errorCode, reason }) => (ended = `${errorCode} ${reason}`))
  await tunnel.hello(accessToken)
})

/** Datagrams that reached the service in this test. */
let served = 0
const open: Visitor[] = []
afterEach(async () => {
  await tunnel.close()
  served = 0
  for (const { socket } of open.splice(0)) socket.close()
})

/** @param sizes of the answers to each datagram */
function serve(sizes: readonly number[]): void {
  tunnel.session.on('datagram', (bytes) => {
    served += 1
    const { flowId } = decodeDatagram(bytes)!
    for (const size of sizes) tunnel.session.sendDatagram(encodeDatagram(flowId, Buffer.alloc(size)))
  })
}

function victims(count: number): Visitor[] {
  open.push(...Array.from({ length: count }, () => visitorOf(port)))
  return open
}

/** Bytes that came. */
function got(): number {
  return open.flatMap((one) => one.got).reduce((sum, one) => sum + one.payload.length / 2, 0)
}

/** Bytes that came for each that was sent, once the service was asked and nothing has come at either end for a while. */
async function factor(sent: number): Promise<number> {
  let before: string | undefined
  await vi.waitUntil(
    () => {
      if (ended !== undefined) throw new Error(`the tunnel has ended: ${ended}`)
      const now = `${served} ${got()}`
      const isQuiet = served > 0 && now === before
      before = now
      return isQuiet
    },
    { interval: 300 },
  )
  return got() / sent
}

const FLOOD = Array.from({ length: ANSWERS }, () => ANSWER_BYTES)

// A machine without time for it loses datagrams and tunnels.
describe('bytes for each byte in the name of another', { retry: 3 }, () => {
  test('one byte in the name of each of 20 addresses', async () => {
    serve(FLOOD)
    for (const one of victims(20)) one.send('x')
    expect(await factor(20)).toBeLessThanOrEqual(FACTOR_MAX)
  })

  test('one byte, where the service answers byte by byte', async () => {
    serve([...FLOOD.keys()].map(() => 1))
    for (const one of victims(20)) one.send('x')
    await expect.poll(() => got() / 20).toBe(FACTOR_MAX)
    expect(await factor(20)).toBe(FACTOR_MAX)
  })

  test('100 datagrams of one byte in the name of one address, as fast as they go, some of which are answered', async () => {
    serve([1, ...FLOOD])
    const [one] = victims(1)
    for (let count = 0; count < 100; count += 1) one!.send('x')
    expect(await factor(100)).toBeLessThanOrEqual(FACTOR_MAX)
  })

  test('100 datagrams of one byte in the name of one address, one every 10 ms', async () => {
    serve(FLOOD)
    const [one] = victims(1)
    for (let count = 0; count < 100; count += 1) {
      one!.send('x')
      await pause(10)
    }
    expect(await factor(100)).toBeLessThanOrEqual(FACTOR_MAX)
  })
})
