// Real clients over real sockets: `ws` and the WebSocket of Node, both ways, with large messages and closing.

import type { Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket as Ws } from 'ws'
import { listen } from '../support/socket-stream.ts'

let server: Server
let url: string

beforeAll(async () => {
  const listening = await listen({
    fetch: (request, info) => {
      const { socket, response } = info.upgrade(request, { protocol: 'echo' })
      socket.onmessage = ({ data }) => (data === 'close' ? socket.close(4321, 'asked') : socket.send(data))
      return response
    },
    isOwnHost: (host) => host === '127.0.0.1',
    canonicalUrl: 'https://127.0.0.1/',
    onError: () => {},
  })
  server = listening.server
  url = `ws://127.0.0.1:${listening.port}/`
})
afterAll(() => server.close())

describe.each([
  ['ws', (): WebSocket => new Ws(url, 'echo') as unknown as WebSocket],
  ['Node', () => new WebSocket(url, 'echo')],
])('%s', (_, connect) => {
  test('text and binary of many sizes come back in order', async () => {
    const client = connect()
    client.binaryType = 'arraybuffer'
    const sizes = [0, 1, 125, 126, 65_535, 65_536, 3_000_000]
    const received: (string | number)[] = []
    const done = new Promise<void>((resolve, reject) => {
      client.onerror = () => reject(new Error('the client failed'))
      client.onmessage = ({ data }) => {
        received.push(typeof data === 'string' ? data.length : `${data.byteLength} bytes`)
        if (received.length === 2 * sizes.length) resolve()
      }
    })
    client.onopen = () => {
      for (const size of sizes) {
        client.send('x'.repeat(size))
        client.send(new Uint8Array(size))
      }
    }
    await done
    expect(client.protocol).toBe('echo')
    expect(received).toEqual(sizes.flatMap((size) => [size, `${size} bytes`]))
    const closed = new Promise<CloseEvent>((resolve) => client.addEventListener('close', resolve))
    client.close(1000, 'bye')
    expect(await closed).toMatchObject({ code: 1000, wasClean: true })
  })

  test('it learns why the page closes', async () => {
    const client = connect()
    const closed = new Promise<CloseEvent>((resolve) => client.addEventListener('close', resolve))
    client.onopen = () => client.send('close')
    expect(await closed).toMatchObject({ code: 4321, reason: 'asked', wasClean: true })
  })
})

test.each([
  ['as it offers it', {}],
  [
    'without a window kept between messages',
    { serverNoContextTakeover: true, clientNoContextTakeover: true },
  ],
])('ws: compressed messages both ways, %s', async (_, options) => {
  const client = new Ws(url, 'echo', { perMessageDeflate: { threshold: 0, ...options } })
  await new Promise((resolve) => client.once('open', resolve))
  expect(client.extensions).toBe('permessage-deflate')
  const texts = ['', 'a', 'ä'.repeat(2000), JSON.stringify(Array.from({ length: 5000 }, (_, i) => ({ i })))]
  const received: string[] = []
  const done = new Promise<void>((resolve) => {
    client.on('message', (data) => received.push(String(data)) === texts.length && resolve())
  })
  for (const text of texts) client.send(text)
  await done
  expect(received).toEqual(texts)
  client.terminate()
})

test('ws: pings are answered', async () => {
  const client = new Ws(url, 'echo')
  await new Promise((resolve) => client.once('open', resolve))
  const answer = new Promise<Buffer>((resolve) => client.once('pong', resolve))
  client.ping('are you there')
  expect(String(await answer)).toBe('are you there')
  client.terminate()
})
