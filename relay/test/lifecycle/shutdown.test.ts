// Tests the shutdown of a relay: open visitors finish, no new ones are accepted, and there is a deadline.

import { once } from 'node:events'
import { Agent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { openCarrier, type TestCarrier } from '../support/carrier.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'

const LONG_MS = 60_000
let relay: TestRelay
beforeEach(async () => {
  relay = await startTestRelay()
})
afterEach(() => relay.close())

interface Visit {
  carrier: TestCarrier
  visitor: Socket
  stream: Awaited<ReturnType<TestCarrier['open']>>
}

/** A visitor who is being served. */
async function visit(name: string): Promise<Visit> {
  const lease = await relay.register(name)
  const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
  const stream = await carrier.open(lease.reverse_endpoint.capability)
  const visitor = await relay.tcp()
  const hello = await captureHello(lease.hostname)
  visitor.write(hello)
  await stream.read(1 + 1 + 16 + hello.length)
  await stream.stream.write(Uint8Array.of(1))
  await once(visitor, 'data')
  return { carrier, visitor, stream }
}

async function health(
  agent: Agent,
): Promise<{ status: number | undefined; connection: string | undefined; text: string }> {
  const host = { host: '127.0.0.1', port: relay.port, servername: ROOT_HOST, ca: relay.ca, agent }
  const asked = httpsRequest({ ...host, path: '/api/healthz', headers: { Host: ROOT_HOST } }).end()
  const [response] = await once(asked, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, connection: response.headers.connection, text }
}

test('visitors finish, sites without any are sent away, and no connection is taken', async () => {
  const { carrier, visitor, stream } = await visit('busy')
  const idle = await relay.register('idle')
  const { socket } = await openCarrier(relay, idle.reverse_endpoint.capability)
  const agent = new Agent({ keepAlive: true })
  expect(await health(agent)).toMatchObject({ status: 200, text: '{"ok":true,"data":{"status":"ok"}}' })

  const stopped = relay.stop({ drainMs: LONG_MS })
  const [code] = await once(socket, 'close')
  expect(code).toBe(4001)
  await expect(relay.tcp()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(await health(agent)).toMatchObject({
    status: 503,
    connection: 'close',
    text: expect.stringContaining('feature_unavailable'),
  })
  await stream.stream.write(new Uint8Array(100_000))
  await stream.stream.end()
  let received = 0
  for await (const chunk of visitor) received += chunk.length
  expect(received).toBe(100_000)
  visitor.end()
  const closed = once(carrier.socket, 'close')
  await stopped
  expect((await closed)[0]).toBe(4001)
})

test('the deadline holds for a visitor who does not leave', async () => {
  const { visitor } = await visit('stays')
  const closed = once(visitor, 'close')
  await relay.stop({ drainMs: 100 })
  await closed
})

test('a second, impatient call ends it at once', async () => {
  const { visitor } = await visit('insists')
  const closed = once(visitor, 'close')
  const stopped = relay.stop({ drainMs: LONG_MS })
  await relay.stop()
  await Promise.all([stopped, closed])
})
