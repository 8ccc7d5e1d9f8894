// Deadlines of requests hold on a server that does not listen itself, and on no other condition.

import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { enforceRequestTimeouts } from '../../src/core/node-internals/request-timeouts.ts'
import { tcp } from '../support/bridges.ts'

const HEAD_DEADLINE_MS = 100

function newServer(): Server {
  const server = createServer({ headersTimeout: HEAD_DEADLINE_MS, connectionsCheckingInterval: 20 })
  return server.on('tlsClientError', (_error, socket) => socket.destroy())
}

test('a head that is too slow is answered with 408', async () => {
  const server = newServer()
  enforceRequestTimeouts(server)
  const { near, far } = await tcp()
  server.emit('secureConnection', near)
  far.write('GET / HTTP/1.1\r\n')
  expect(await text(far)).toMatch(/^HTTP\/1\.1 408 /)
  server.close()
})

test('without that, Node does not look', async () => {
  const server = newServer()
  const { near, far } = await tcp()
  server.emit('secureConnection', near)
  far.write('GET / HTTP/1.1\r\n')
  const closed = once(far, 'close').then(() => true)
  const late = new Promise((resolve) => setTimeout(resolve, 5 * HEAD_DEADLINE_MS, false))
  expect(await Promise.race([closed, late])).toBe(false)
  near.destroy()
  far.destroy()
  server.close()
})
