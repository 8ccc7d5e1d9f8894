// Who connects and then dawdles: each deadline, from the outside and on the real clock, all at once.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../../tools/network/client-hello.ts'
import { freeRange } from '../../../../tools/network/free-port.ts'
import { openCarrier, type TestCarrier } from '../../support/carrier.ts'
import { startTestRelay, type TestRelay } from '../../support/relay.ts'
import { openTunnel } from '../../support/tunnel.ts'

// a relay that starts waits for its QUIC process

let relay: TestRelay
let carrier: TestCarrier
let hostname: string
beforeAll(async () => {
  const port = `${await freeRange(1)}`
  relay = await startTestRelay({ UDP_ENABLED: 'true', MIN_PORT: port, MAX_PORT: port })
  const lease = await relay.register('slow')
  hostname = lease.hostname
  carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
})
afterAll(() => relay.close())

/**
 * Connects, and waits until the relay has closed the socket.
 * @returns seconds since before the connection, so that they are no fewer than the relay's, and what it said
 */
async function closing(
  connected: () => Socket | Promise<Socket>,
): Promise<{ seconds: number; text: string }> {
  const started = performance.now()
  const socket = await connected()
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return { seconds: (performance.now() - started) / 1000, text: Buffer.concat(chunks).toString() }
}

/** @param text the beginning of a request to the API */
async function asking(text: string): Promise<Socket> {
  const socket = relay.tls('relay.localhost')
  await once(socket, 'secureConnect')
  socket.write(text)
  return socket
}

/** Ten seconds, the interval of a look, and the time of a slow machine; Node's own deadlines begin with a minute. */
const LATEST_S = 45
const HEAD = 'POST /sdk/renew HTTP/1.1\r\nHost: relay.localhost\r\nContent-Type: application/json\r\n'

describe.concurrent('deadlines', () => {
  test('a connection that says nothing is closed after 10 s', async () => {
    const { seconds, text } = await closing(() => relay.tcp())
    expect(text).toBe('')
    expect(seconds).toBeGreaterThan(9.5)
    expect(seconds).toBeLessThan(LATEST_S)
  })

  test('a visitor whom no session serves is turned away after 10 s (protocol §9.2.1)', async () => {
    const { seconds } = await closing(() => relay.tls(hostname))
    expect(seconds).toBeGreaterThan(9.5)
    expect(seconds).toBeLessThan(LATEST_S)
  })

  test('a stream that never presents its capability is reset after 10 s (protocol §7.4.3)', async () => {
    const started = performance.now()
    const stream = await carrier.session.open()
    await stream.write(Uint8Array.of(0))
    await stream.closed
    expect((performance.now() - started) / 1000).toBeGreaterThan(9.5)
  })

  test('a datagram tunnel whose token never comes is closed after 10 s (protocol §12.1.5)', async () => {
    const started = performance.now()
    const tunnel = await openTunnel(relay)
    await tunnel.closed
    expect((performance.now() - started) / 1000).toBeGreaterThan(9)
    expect((performance.now() - started) / 1000).toBeLessThan(LATEST_S)
  })

  test("a request's head must be whole after 10 s (protocol §2.1.6)", async () => {
    const { seconds, text } = await closing(() => asking(HEAD))
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(seconds).toBeGreaterThan(9)
    expect(seconds).toBeLessThan(LATEST_S)
  })

  test("a request's body must be whole after 10 s (protocol §2.2.3)", async () => {
    const { seconds, text } = await closing(() => asking(`${HEAD}Content-Length: 10\r\n\r\n{`))
    expect(text).toMatch(/^HTTP\/1\.1 400 .*took too long/s)
    expect(seconds).toBeGreaterThan(9)
    expect(seconds).toBeLessThan(LATEST_S)
  })

  test('a TLS handshake with the API must be whole after 10 s', async () => {
    const hello = await captureHello('relay.localhost')
    const { seconds } = await closing(async () => {
      const socket = await relay.tcp()
      socket.write(hello)
      return socket
    })
    expect(seconds).toBeGreaterThan(9)
    expect(seconds).toBeLessThan(LATEST_S)
  })
})
