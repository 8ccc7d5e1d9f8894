// Tests that the relay knows the TCP connection under a TLS connection while it is open, and not after.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { UnderlyingSockets } from '../../src/core/reverse/tls-underlying-socket.ts'

test('a connection is found by its peer until it closes', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const open = async (): Promise<[Socket, Socket]> => {
    const near = connect(port, '127.0.0.1')
    const [far] = (await once(server, 'connection')) as [Socket]
    return [near, far]
  }
  const [[, first], [, second]] = [await open(), await open()]
  const { remoteAddress, remotePort } = first
  const peer = { remoteAddress, remotePort } as Socket
  const sockets = new UnderlyingSockets()
  for (const socket of [first, second]) sockets.add(socket)
  expect(sockets.beneath(peer)).toBe(first)
  expect(sockets.beneath(second)).toBe(second)
  first.destroy()
  await once(first, 'close')
  expect(sockets.beneath(peer)).toBeUndefined()
  second.destroy()
  server.close()
})
