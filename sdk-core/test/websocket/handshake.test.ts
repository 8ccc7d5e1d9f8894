// The opening handshake, RFC 6455 §4.2 and RFC 9110 §7.8: accepted, refused, declined.

import { describe, expect, test } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import type { VisitorSocket } from '../../src/websocket/visitor-socket.ts'
import { Visitor } from '../http1/visitor.ts'
import { Client, frame, HANDSHAKE, KEY } from './client.ts'

const upgrade: FetchHandler = (request, info) => info.upgrade(request).response

async function refusal(request: string, handler = upgrade): Promise<string> {
  const visitor = await new Visitor(handler).send(request)
  const answer = await visitor.rest()
  expect(visitor.errors).toEqual([])
  return answer
}

describe('RFC 6455 §4.2.2 accepted', () => {
  test('§1.3 the example', async () => {
    const client = new Client(() => {}, { protocol: 'chat' })
    await client.visitor.send(HANDSHAKE)
    expect(await client.visitor.receive('\r\n\r\n')).toBe(
      'HTTP/1.1 101 Switching Protocols\r\n' +
        'upgrade: websocket\r\n' +
        'connection: Upgrade\r\n' +
        'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n' +
        'sec-websocket-protocol: chat\r\n\r\n',
    )
    expect(client.socket.protocol).toBe('chat')
    expect(client.socket.extensions).toBe('')
  })

  test('the handler sees the Origin and may set headers; those of the handshake are ours', async () => {
    const visitor = new Visitor((request, info) => {
      const { response } = info.upgrade(request)
      response.headers.append('set-cookie', 'a=1')
      response.headers.append('set-cookie', 'b=2')
      response.headers.set('sec-websocket-extensions', 'permessage-deflate')
      response.headers.set('x-origin', request.headers.get('origin') ?? '')
      return response
    })
    await visitor.send(HANDSHAKE)
    const head = await visitor.receive('\r\n\r\n')
    expect(head).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\nx-origin: http://example.com\r\n\r\n')
    expect(head).not.toMatch(/extensions|protocol:|content-length/)
  })

  test('§4.2.1 field values in other cases, and among others', async () => {
    const visitor = new Visitor(upgrade)
    const other = HANDSHAKE.replace('Upgrade: websocket', 'Upgrade: h2c, WebSocket').replace(
      'Connection: Upgrade',
      'Connection: keep-alive, uPGRADE',
    )
    await visitor.send(other)
    expect(await visitor.receive('\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /)
  })

  test('frames that came with the handshake are not lost', async () => {
    const client = new Client((socket) => {
      socket.onmessage = ({ data }) => socket.send(data)
    })
    await client.visitor.send(Buffer.concat([Buffer.from(HANDSHAKE), frame(1, 'early')]))
    await client.visitor.receive('\r\n\r\n')
    expect(String((await client.receive())?.payload)).toBe('early')
  })

  test('the socket is connecting until the response is sent', async () => {
    let early: unknown
    const client = await Client.open((socket) => {
      expect(socket.readyState).toBe(WebSocket.CONNECTING)
      try {
        socket.send('too early')
      } catch (error) {
        early = error
      }
    })
    expect(early).toMatchObject({ name: 'InvalidStateError' })
    expect(client.socket.readyState).toBe(WebSocket.OPEN)
    expect(client.events).toEqual(['open'])
  })
})

describe('RFC 6455 §4.2.1 refused, and no error of the handler', () => {
  test.each([
    ['a request for no upgrade', 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'],
    ['an upgrade to something else', HANDSHAKE.replace('Upgrade: websocket', 'Upgrade: h2c')],
    ['no Connection: Upgrade', HANDSHAKE.replace('Connection: Upgrade', 'Connection: keep-alive')],
    ['HTTP/1.0', HANDSHAKE.replace('HTTP/1.1', 'HTTP/1.0')],
    ['no version', HANDSHAKE.replace('Sec-WebSocket-Version: 13\r\n', '')],
    ['version 8', HANDSHAKE.replace('Version: 13', 'Version: 8')],
    ['version 13, 8', HANDSHAKE.replace('Version: 13', 'Version: 13, 8')],
  ])('426 %s', async (_, request) => {
    const answer = await refusal(request)
    expect(answer).toMatch(/^HTTP\/1\.1 426 upgrade required\r\n/)
    expect(answer).toContain('\r\nsec-websocket-version: 13\r\n')
    expect(answer).toContain('\r\nconnection: close, upgrade\r\nupgrade: websocket\r\n')
  })

  test.each([
    ['no key', HANDSHAKE.replace(`Sec-WebSocket-Key: ${KEY}\r\n`, '')],
    ['a key that is too short', HANDSHAKE.replace(KEY, 'dGhlIHNhbXBsZSBub25j')],
    ['a key that is not base64', HANDSHAKE.replace(KEY, 'dGhlIHNhbXBsZSBub25j!!==')],
    ['two keys', HANDSHAKE.replace(KEY, `${KEY}\r\nSec-WebSocket-Key: ${KEY}`)],
    ['another method', HANDSHAKE.replace('GET', 'POST')],
  ])('400 %s', async (_, request) => {
    expect(await refusal(request)).toMatch(/^HTTP\/1\.1 400 .*connection: close\r\n/s)
  })

  test('400 a subprotocol that was not offered', async () => {
    const handler: FetchHandler = (request, info) => info.upgrade(request, { protocol: 'other' }).response
    expect(await refusal(HANDSHAKE, handler)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('a handler may answer in its own way', async () => {
    const answer = await refusal('GET / HTTP/1.1\r\nHost: site.example\r\n\r\n', (request, info) => {
      try {
        return info.upgrade(request).response
      } catch {
        return new Response('a page instead', { headers: { connection: 'close' } })
      }
    })
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*a page instead$/s)
  })
})

describe('RFC 9110 §7.8 declined', () => {
  test('a handler that upgrades and then returns something else loses the socket', async () => {
    let socket: VisitorSocket | undefined
    const events: string[] = []
    const visitor = new Visitor((request, info) => {
      ;({ socket } = info.upgrade(request))
      socket.onerror = ({ error }) => events.push((error as { code: string }).code)
      socket.onclose = ({ code }) => events.push(`${code}`)
      return new Response('no')
    })
    await visitor.send(HANDSHAKE)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n\r\nno$/s)
    expect(events).toEqual(['upgrade_declined', '1006'])
    expect(socket?.readyState).toBe(WebSocket.CLOSED)
  })

  test('a copy of the response cannot be made, so that the mistake is seen', async () => {
    const visitor = new Visitor((request, info) => {
      const { response } = info.upgrade(request)
      return new Response(response.body, response)
    })
    await visitor.send(HANDSHAKE)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 500 /)
    expect(visitor.errors).toEqual([expect.any(RangeError)])
  })

  test('once per request, and not after the response', async () => {
    let late: (() => unknown) | undefined
    const visitor = new Visitor((request, info) => {
      late = () => info.upgrade(request)
      info.upgrade(request)
      expect(late).toThrow(TypeError)
      return new Response('no')
    })
    await visitor.send(HANDSHAKE)
    await visitor.rest()
    expect(late).toThrow(TypeError)
  })

  test('a visitor that leaves before the response gets no socket', async () => {
    const events: string[] = []
    const left = Promise.withResolvers<unknown>()
    const visitor = new Visitor(async (request, info) => {
      const { socket, response } = info.upgrade(request)
      socket.onclose = ({ code }) => events.push(`${code}`)
      request.signal.addEventListener('abort', () => {
        try {
          info.upgrade(request)
        } catch (error) {
          left.resolve(error)
        }
      })
      await left.promise
      return response
    })
    await visitor.send(HANDSHAKE)
    await new Promise((resolve) => setTimeout(resolve, 20))
    visitor.stream.abort()
    await visitor.served
    expect(await left.promise).toMatchObject({ name: 'AbortError' })
    expect(events).toEqual(['1006'])
    expect(visitor.errors).toEqual([])
  })
})
