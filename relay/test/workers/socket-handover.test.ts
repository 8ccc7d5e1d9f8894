// Tests the handover of a visitor's socket: bytes that were read go with it, and later ones stay in the kernel.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { handOverMessage, receiveSocket } from '../../src/features/workers/socket-handover.ts'
import { newLease } from '../support/lease.ts'

const lease = newLease()

test('reads nothing more from the moment that it leaves', async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0)
  const client = connect((server.address() as { port: number }).port)
  const [visitor] = (await once(server, 'connection')) as [Socket]
  client.write('before')
  await expect.poll(() => visitor.readableLength).toBe(6)
  const { unread } = handOverMessage({
    visitor,
    lease,
    hello: undefined,
    arrivedAt: 0,
    sessionsLost: 0,
    network: undefined,
    isLowPriority: false,
    handedOverBy: undefined,
  })
  expect(String(unread)).toBe('before')
  client.write('after')
  await setTimeout(100)
  expect([visitor.bytesRead, visitor.readableLength]).toEqual([6, 0])
  visitor.destroy()
  client.destroy()
  server.close()
})

test('arrives as it was: half-open, and with what was read', async () => {
  const server = createServer().listen(0)
  const client = connect({ port: (server.address() as { port: number }).port, allowHalfOpen: true })
  const [socket] = (await once(server, 'connection')) as [Socket]
  const message = {
    kind: 'visitor',
    lease: lease.id,
    hello: undefined,
    unread: Buffer.from('one '),
    ageMs: 0,
    sessionsLost: 0,
    network: undefined,
    isLowPriority: false,
  } as const
  const visitor = receiveSocket(socket, message)
  client.end('two')
  expect(await said(visitor)).toBe('one two')
  visitor.end('and an answer')
  expect(await said(client)).toBe('and an answer')
  server.close()
})

/** Until its end, which ends nothing else. */
async function said(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  await once(socket, 'end')
  return text
}
