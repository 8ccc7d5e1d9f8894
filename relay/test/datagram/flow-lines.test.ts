// Tests the addresses of UDP visitors at a real relay: the lines on the stream of a tunnel, and a flood that must not end it.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { TUNNEL_HEARTBEAT_BYTES, TUNNEL_WINDOW_BYTES } from '@svc/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { TUNNEL_STREAM_MAX_BYTES } from '../../src/features/datagrams/limits.ts'
import { startTestRelay } from '../support/relay.ts'
import { openTunnel, type TestTunnel, visitorOf } from '../support/tunnel.ts'
import { startUdpPath } from '../support/udp-path.ts'

const PORTS = 10
/** Until something has arrived, on a slow machine. */
const PATIENT_MS = 60_000
const ANSWER = '{"ok":true,"heartbeat":true}'

const relay = useStarted(async () => {
  const first = await freeRange(PORTS)
  return startTestRelay({
    UDP_ENABLED: 'true',
    MIN_PORT: `${first}`,
    MAX_PORT: `${first + PORTS - 1}`,
    // A relay on localhost listens at 127.0.0.1 alone by itself.
    BIND_ADDRESS: '::',
  })
})

const open: { close(): unknown }[] = []
afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))

let names = 0

async function site(extensions: string[] = ['visitor_address'], at?: number) {
  names += 1
  const lease = await relay.register(`flows${names}`, { udp_enabled: true, extensions })
  const tunnel = await openedTunnel(lease.access_token, at)
  return { lease, tunnel, port: Number(lease.udp_addr?.split(':').at(-1)) }
}

/** @param at the port at which the relay is dialed */
async function openedTunnel(token: string, at: number = relay.port): Promise<TestTunnel> {
  const tunnel = await openTunnel({ ...relay, port: at })
  open.push(tunnel)
  expect(JSON.stringify(await tunnel.hello(token))).toBe(ANSWER)
  return tunnel
}

function visitor(port: number, type?: 'udp4' | 'udp6') {
  const one = visitorOf(port, type)
  open.push(one.socket)
  return one
}

/** What came on the stream after the answer, without heartbeats. */
const linesOf = (tunnel: TestTunnel): string[] =>
  tunnel.received().slice(ANSWER.length).replaceAll('\0', '').split('\n').slice(0, -1)

/** UDP may lose any single datagram. */
async function untilPassed(send: () => void, tunnel: TestTunnel, count: number): Promise<void> {
  await vi.waitUntil(() => {
    send()
    return new Set(tunnel.datagrams.map((datagram) => datagram.slice(0, 2))).size >= count
  }, PATIENT_MS)
}

test('protocol §12.2.8: the tunnel is told where each flow comes from, once', async () => {
  const { tunnel, port, lease } = await site()
  const one = visitor(port)
  const six = visitor(port, 'udp6')
  await untilPassed(() => one.send('a'), tunnel, 1)
  await untilPassed(() => six.send('b'), tunnel, 2)
  one.send('again')
  const lines = [
    { flow: 1, address: '127.0.0.1', port: one.socket.address().port },
    { flow: 2, address: '::1', port: six.socket.address().port },
  ]
  await expect.poll(() => linesOf(tunnel).length).toBe(2)
  expect(linesOf(tunnel).map((line) => JSON.parse(line))).toEqual(lines)
  const next = await openedTunnel(lease.access_token)
  await untilPassed(() => one.send('a'), next, 1)
  await expect.poll(() => linesOf(next)).toEqual([JSON.stringify(lines[0])])
})

test('a lease that did not ask gets heartbeats alone', async () => {
  const { tunnel, port } = await site([])
  const one = visitor(port)
  await untilPassed(() => one.send('a'), tunnel, 1)
  tunnel.stream.write(Buffer.alloc(TUNNEL_HEARTBEAT_BYTES))
  await expect.poll(() => tunnel.received().length).toBe(ANSWER.length + TUNNEL_HEARTBEAT_BYTES)
  expect(linesOf(tunnel)).toEqual([])
})

test('protocol §12.2.9: a flood of new flows does not end a tunnel whose path is slow, and heartbeats come back', async () => {
  const path = await startUdpPath(relay.port)
  open.push(path)
  const { tunnel, port } = await site(['visitor_address'], path.port)
  const closed = vi.fn()
  tunnel.closed.then(closed)
  // What the relay writes does not arrive meanwhile. The lines would fill the window, and all that may wait behind it.
  path.passes.back = false
  await flood(port, 6_000)
  tunnel.stream.write(Buffer.alloc(TUNNEL_HEARTBEAT_BYTES))
  await flood(port, 400)
  path.passes.back = true
  const zeros = (): number => tunnel.received().split('\0').length - 1
  await expect.poll(zeros, { timeout: PATIENT_MS }).toBe(TUNNEL_HEARTBEAT_BYTES)
  const late = visitor(port)
  await vi.waitUntil(() => {
    late.send('still here')
    return tunnel.datagrams.some((datagram) => datagram.endsWith(Buffer.from('still here').toString('hex')))
  }, PATIENT_MS)
  expect(closed).not.toHaveBeenCalled()
  const flows = linesOf(tunnel).map((line) => JSON.parse(line).flow)
  expect(new Set(flows).size).toBe(flows.length)
  const bytes = linesOf(tunnel).join('\n').length
  expect(bytes).toBeGreaterThan(TUNNEL_WINDOW_BYTES / 2)
  expect(bytes).toBeLessThan(TUNNEL_WINDOW_BYTES + TUNNEL_STREAM_MAX_BYTES)
})

/** Sends one datagram from each of so many ports of eight addresses. */
async function flood(port: number, flows: number): Promise<void> {
  for (let sent = 0; sent < flows; sent += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, at) => sendOnce(`127.0.0.${at + 2}`, port)))
    // The relay runs in this process and reads its sockets now.
    await setImmediate()
  }
}

async function sendOnce(address: string, port: number): Promise<void> {
  const socket = createSocket('udp4')
  socket.bind(0, address)
  await once(socket, 'listening')
  await new Promise((resolve) => socket.send('x', port, '127.0.0.1', resolve))
  socket.close()
}
