// What the kernel keeps for a client that does not read, as it tells of it.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SEND_QUEUES_READ_BYTES, sendQueueSize } from '../../src/core/http/send-queue-size.ts'

test.each(['127.0.0.1', '::1'])('is known of each connection, from %s', async (host) => {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const open = async (): Promise<[client: Socket, accepted: Socket]> => {
    const client = connect({ host, port }).pause()
    const [accepted] = await once(server, 'connection')
    return [client, accepted]
  }
  const [stuck, idle] = [await open(), await open()]
  stuck[1].write(Buffer.alloc(16 * 1024 * 1024))
  await setTimeout(100)
  const queues = await sendQueueSize([stuck[1], idle[1]])
  expect(queues.get(stuck[1])).toBeGreaterThan(16 * 1024)
  expect(queues.get(idle[1])).toBe(0)
  expect(await sendQueueSize([{ remoteAddress: '192.0.2.1', remotePort: 1, localPort: port }])).toEqual(
    new Map(),
  )
  for (const socket of [...stuck, ...idle]) socket.destroy()
  server.close()
})

test('is known of every connection where the tables take several reads', async () => {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const accepted: Socket[] = []
  server.on('connection', (socket) => accepted.push(socket))
  // A line has 150 bytes.
  const count = Math.ceil((2 * SEND_QUEUES_READ_BYTES) / 150)
  const clients = Array.from({ length: count }, () => connect({ host: '127.0.0.1', port }))
  await expect.poll(() => accepted.length).toBe(count)
  // The kernel may leave lines out while the table changes.
  await expect.poll(async () => (await sendQueueSize(accepted)).size).toBe(count)
  for (const socket of [...clients, ...accepted]) socket.destroy()
  server.close()
})
