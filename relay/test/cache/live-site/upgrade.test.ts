// WebSockets at a canonical hostname, which the relay passes on to the live site.

import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { INTERIM_RESPONSES_MAX } from '../../../src/core/outbound/interim-responses.ts'
import { LIVE_REQUESTS_PER_NETWORK_MAX } from '../../../src/features/static-cache/live-site/limits.ts'
import type { HandMadeSite } from '../../support/live-sites.ts'
import { readAll } from '../../support/relay.ts'
import { nodeHttp } from '../../support/tls-site.ts'
import { useLiveRelay } from '../../support/use-live-relay.ts'

const live = useLiveRelay()
const sockets: WebSocket[] = []
// Vitest calls it before that of the sites.
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate()
})

const LATIN1 = Buffer.from('HTTP/1.1 403 Forbidden\r\nX-Name: Ren\xe9\r\nContent-Length: 0\r\n\r\n', 'latin1')
const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n'
/** @param serve gets the WebSocket of each visitor */
function open(serve: (socket: WebSocket) => void): Promise<HandMadeSite> {
  const { server, serve: serveTls } = nodeHttp((_request, response) =>
    response.writeHead(403).end('not here'),
  )
  const webSockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (request.url === '/refused') socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 8\r\n\r\nnot here')
    else if (request.url === '/latin1') socket.end(LATIN1)
    else if (request.url === '/interim') socket.write(INTERIM.repeat(INTERIM_RESPONSES_MAX + 1))
    else webSockets.handleUpgrade(request, socket, head, serve)
  })
  return live.open(serveTls)
}

function connect(site: HandMadeSite, path = '/'): WebSocket {
  const { hostname } = new URL(site.url)
  const socket = new WebSocket(`${site.url.replace('https', 'wss')}${path}`, {
    createConnection: () => live.relay.tls(hostname),
  })
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

const echo = (socket: WebSocket): void => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
}

test('bytes go both ways, many of them, and the first ones come with the handshake', async () => {
  const site = await open((socket) => {
    socket.send('welcome')
    echo(socket)
  })
  const socket = connect(site)
  expect(String((await once(socket, 'message'))[0])).toBe('welcome')
  const large = Buffer.alloc(5_000_000, 'a')
  socket.send(large)
  expect(((await once(socket, 'message'))[0] as Buffer).equals(large)).toBe(true)
})

test('the close of either side reaches the other', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<number>()
  const site = await open((socket) => {
    socket.once('close', resolve)
    socket.once('message', () => socket.close(4001))
  })
  const left = connect(site)
  await once(left, 'open')
  left.close(4000)
  expect(await closed).toBe(4000)
  const dismissed = connect(site)
  await once(dismissed, 'open')
  dismissed.send('end')
  expect((await once(dismissed, 'close'))[0]).toBe(4001)
})

test('a visitor whose connection breaks is gone for the site, too', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<number>()
  const site = await open((socket) => socket.once('close', resolve))
  const socket = connect(site)
  await once(socket, 'open')
  socket.terminate()
  expect(await closed).toBe(1006)
})

test("a site's refusal is passed on", async () => {
  const socket = connect(await open(echo), '/refused')
  const [, response] = await once(socket, 'unexpected-response')
  expect(response.statusCode).toBe(403)
  let text = ''
  for await (const chunk of response) text += chunk
  expect(text).toBe('not here')
})

test('bytes of fields beyond ASCII stay what they are', async () => {
  const socket = connect(await open(echo), '/latin1')
  const [, response] = await once(socket, 'unexpected-response')
  expect(response.headers['x-name']).toBe('Ren\xe9')
  response.resume()
})

test('a site that sends interim responses without an end is cut', async () => {
  const [, response] = await once(connect(await open(echo), '/interim'), 'unexpected-response')
  expect(response.statusCode).toBe(502)
  response.resume()
})

test('the end of the lease ends it', async () => {
  const site = await open(echo)
  const socket = connect(site)
  await once(socket, 'open')
  const closed = once(socket, 'close')
  live.relay.parts.state.leases.end(site.lease, 'replaced')
  await closed
})

test.each([
  ['another protocol', 'GET / HTTP/1.1', 'Upgrade: h2c', 501],
  ['another method', 'POST / HTTP/1.1', 'Upgrade: websocket', 501],
  ['another host in the target', 'GET https://other.relay.localhost/ HTTP/1.1', 'Upgrade: websocket', 421],
])('%s is refused', async (_what, line, upgrade, status) => {
  const site = await open(echo)
  const { hostname, host } = new URL(site.url)
  const socket = live.relay.tls(hostname)
  const answer = readAll(socket)
  socket.write(`${line}\r\nHost: ${host}\r\nConnection: Upgrade\r\n${upgrade}\r\n\r\n`)
  expect(String(await answer)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(site.connections).toHaveLength(0)
})

test('a network has so many at once, and one more is refused', async () => {
  const site = await open(echo)
  const first: WebSocket[] = []
  // A few at a time: a loaded machine takes longer for all of them than a visitor waits for a session.
  while (first.length < LIVE_REQUESTS_PER_NETWORK_MAX) {
    const some = Array.from({ length: 8 }, () => connect(site))
    await Promise.all(some.map((socket) => once(socket, 'open')))
    first.push(...some)
  }
  const [, response] = await once(connect(site), 'unexpected-response')
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1'])
  first[0]!.terminate()
  await expect
    .poll(async () => {
      const socket = connect(site)
      await Promise.race([once(socket, 'open'), once(socket, 'unexpected-response')])
      return socket.readyState
    })
    .toBe(WebSocket.OPEN)
})
