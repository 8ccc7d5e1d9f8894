// A reset that gives the descriptor back in every state of the socket, and is the only one.

import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { resetSocket } from '../../src/sockets/reset-socket.ts'

const ROOT = join(import.meta.dirname, '../../..')
const HOME = 'node-kit/src/sockets/reset-socket.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

async function pair(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const near = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const connected = once(near, 'connect')
  const [far] = (await once(server, 'connection')) as [Socket]
  await connected
  server.close()
  sockets.push(near, far)
  for (const socket of [near, far]) socket.on('error', () => {})
  return [near, far]
}

describe('resetSocket', () => {
  it('tells the peer that bytes may be missing', async () => {
    const [near, far] = await pair()
    resetSocket(near)
    far.resume()
    expect((await once(far, 'error'))[0]).toMatchObject({ code: 'ECONNRESET' })
  })

  it('gives the descriptor back while the end of the socket is under way', async () => {
    const [near, far] = await pair()
    const closed = Promise.all([once(near, 'close'), once(far.resume(), 'end')])
    near.end()
    resetSocket(near)
    await closed
  })

  it('gives the descriptor back while bytes wait for a peer that reads nothing', async () => {
    const [near, far] = await pair()
    far.pause()
    while (near.write(Buffer.alloc(1 << 20))) {}
    near.end()
    const closed = once(near, 'close')
    resetSocket(near)
    await closed
  })

  it('gives the descriptor back while the socket connects', async () => {
    const socket = connect({ port: 9, host: '192.0.2.1' }).on('error', () => {})
    const closed = once(socket, 'close')
    resetSocket(socket)
    await closed
  })
})

it('is the only caller of resetAndDestroy()', () => {
  const callers = globSync('{node-kit,relay,sdk-node}/src/**/*.ts', { cwd: ROOT }).filter((path) =>
    readFileSync(join(ROOT, path), 'utf8').includes('.resetAndDestroy()'),
  )
  expect(callers).toEqual([HOME])
})
