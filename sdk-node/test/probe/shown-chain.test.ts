// The look at a host's certificates ends in bounded time, whatever answers there.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { shownChain } from '../../src/probe/shown-chain.ts'

async function answeredBy(serve: (socket: Socket) => void): Promise<unknown> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    serve(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const reason = await shownChain(new URL(`https://127.0.0.1:${port}`), undefined, 200).catch(
    (error) => error,
  )
  for (const socket of sockets) socket.destroy()
  server.close()
  return reason
}

it.each<[string, (socket: Socket) => void, RegExp]>([
  ['that says nothing', () => {}, /too long/],
  ['that ends at once', (socket) => socket.end(), /disconnected|closed/],
  ['that speaks no TLS', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /wrong version|packet/i],
])('a host %s is unreachable', async (_, serve, why) => {
  const reason = (await answeredBy(serve)) as Error
  expect(reason).toMatchObject({ code: 'relay_unreachable' })
  expect(String((reason.cause as Error).message)).toMatch(why)
})
