// A reset that gives the descriptor back in every state of the socket; the relay and the SDK for Node have the same one.

import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { resetSocket as resetOfRelay } from '../../../relay/src/node-internals/reset-socket.ts'
import { resetSocket } from '../../src/net/reset-socket.ts'
import { listening } from '../support/exposed.ts'

const ROOT = join(import.meta.dirname, '../../..')
const COPIES = ['relay/src/node-internals/reset-socket.ts', 'sdk-node/src/net/reset-socket.ts']

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

async function pair(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true })
  const near = connect({ port: await listening(server), host: '127.0.0.1', allowHalfOpen: true })
  const connected = once(near, 'connect')
  const [far] = (await once(server, 'connection')) as [Socket]
  await connected
  server.close()
  sockets.push(near, far)
  for (const socket of [near, far]) socket.on('error', () => {})
  return [near, far]
}

describe.each([
  ['the relay', resetOfRelay],
  ['the SDK', resetSocket],
])('resetSocket of %s', (_, reset) => {
  it('tells the peer that bytes may be missing', async () => {
    const [near, far] = await pair()
    reset(near)
    far.resume()
    expect((await once(far, 'error'))[0]).toMatchObject({ code: 'ECONNRESET' })
  })

  it('gives the descriptor back while the end of the socket is under way', async () => {
    const [near, far] = await pair()
    const closed = Promise.all([once(near, 'close'), once(far.resume(), 'end')])
    near.end()
    reset(near)
    await closed
  })

  it('gives the descriptor back while bytes wait for a peer that reads nothing', async () => {
    const [near, far] = await pair()
    far.pause()
    while (near.write(Buffer.alloc(1 << 20))) {}
    near.end()
    const closed = once(near, 'close')
    reset(near)
    await closed
  })

  it('gives the descriptor back while the socket connects', async () => {
    const socket = connect({ port: 9, host: '192.0.2.1' }).on('error', () => {})
    const closed = once(socket, 'close')
    reset(socket)
    await closed
  })
})

it('is the same code in both packages, and the only caller of resetAndDestroy()', () => {
  const [relay, sdk] = COPIES.map((path) => readFileSync(join(ROOT, path), 'utf8').replace(/^.*\n/, ''))
  expect(sdk).toBe(relay)
  const callers = globSync(['relay/src/**/*.ts', 'sdk-node/src/**/*.ts'], { cwd: ROOT }).filter((path) =>
    readFileSync(join(ROOT, path), 'utf8').includes('.resetAndDestroy()'),
  )
  expect(callers.sort()).toEqual(COPIES)
})
