// WebSockets over a stream, RFC 8441: the handshake is CONNECT and 200, the frames are in DATA.

import { describe, expect, test } from 'vitest'
import type { FetchHandler, FetchInfo } from '../../src/exchange/fetch-handler.ts'
import type { UpgradeOptions } from '../../src/websocket/upgrade.ts'
import { frame as message, status } from '../websocket/client.ts'
import { settle, Visitor } from './visitor.ts'
import { block, DATA, END_HEADERS, END_STREAM, frame, get, HEADERS, request, reset } from './wire.ts'

const CONNECT = { ':method': 'CONNECT', ':protocol': 'websocket', 'sec-websocket-version': '13' }
const connect = (changes: Record<string, string> = {}): Buffer =>
  frame(HEADERS, END_HEADERS, 1, block(request({ ...CONNECT, ...changes })))

const echo =
  (options: UpgradeOptions = {}, events: string[] = []): FetchHandler =>
  (request: Request, info: FetchInfo) => {
    if (request.headers.get('upgrade') !== 'websocket') return new Response('a page')
    const { socket, response } = info.upgrade(request, options)
    socket.onmessage = ({ data }) => socket.send(data)
    socket.onerror = ({ error }) => events.push(String((error as { code?: string }).code))
    socket.onclose = ({ code, wasClean }) => events.push(`${code} ${wasClean}`)
    response.headers.set('x-room', 'one')
    return response
  }

describe('RFC 8441 §5', () => {
  test('a socket opens, echoes and closes, beside other streams', async () => {
    const events: string[] = []
    const visitor = await Visitor.open(echo({ protocol: 'chat' }, events))
    await visitor.send(connect({ 'sec-websocket-protocol': 'other, chat' }))
    expect((await visitor.frame())?.fields).toEqual({
      ':status': '200',
      'sec-websocket-protocol': 'chat',
      'x-room': 'one',
    })
    expect(visitor.requests[0]?.method).toBe('GET')
    await visitor.send(frame(DATA, 0, 1, message(1, 'Hello')))
    expect((await visitor.frame())?.payload.toString('latin1')).toBe('\x81\x05Hello')
    await visitor.send(get(3))
    expect((await visitor.response(3)).body).toBe('a page')
    await visitor.send(frame(DATA, 0, 1, message(8, status(1000))), frame(DATA, END_STREAM, 1))
    expect((await visitor.frame())?.payload.toString('hex')).toBe('880203e8')
    expect(await visitor.next()).toBe('DATA 1 0 end')
    expect(events).toEqual(['1000 true'])
  })

  test('a stream that is reset closes the socket', async () => {
    const events: string[] = []
    const visitor = await Visitor.open(echo({}, events))
    await visitor.send(connect())
    await visitor.next()
    await visitor.send(reset(1))
    await settle()
    expect(events).toEqual(['cancelled', '1006 false'])
  })

  test('a site that closes says so with 1001', async () => {
    const controller = new AbortController()
    const visitor = await Visitor.open(echo(), { closing: controller.signal })
    await visitor.send(connect())
    await visitor.next()
    controller.abort()
    const frames = [await visitor.frame(), await visitor.frame()]
    expect(frames.map((one) => one?.payload.toString('hex'))).toContain('880203e9')
  })
})

describe('what is refused', () => {
  test.each<[string, Record<string, string>, UpgradeOptions, string]>([
    ['another version', { 'sec-websocket-version': '8' }, {}, '426'],
    ['a subprotocol that was not offered', {}, { protocol: 'chat' }, '400'],
    ['another site', { ':authority': 'other.example' }, {}, '421'],
  ])('%s', async (_, changes, options, expected) => {
    const visitor = await Visitor.open(echo(options))
    await visitor.send(connect(changes))
    expect((await visitor.response(1)).status).toBe(expected)
    expect(visitor.errors).toEqual([])
  })

  test('by a handler with its own answer, which is never a success', async () => {
    const visitor = await Visitor.open(
      (request) => new Response('no', { status: request.url.endsWith('/403') ? 403 : 200 }),
    )
    await visitor.send(connect())
    expect((await visitor.response(1)).status).toBe('404')
    await visitor.until('RST_STREAM 1 NO_ERROR')
    await visitor.send(frame(HEADERS, END_HEADERS, 3, block(request({ ...CONNECT, ':path': '/403' }))))
    expect((await visitor.response(3)).status).toBe('403')
    expect(visitor.errors).toEqual([])
  })
})
