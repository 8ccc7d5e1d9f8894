// A dedicated TCP port answers for its own lease alone: whoever names another host of the relay there, by HTTP or TLS, is reset.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freeRange } from '../../../tools/network/free-port.ts'
import { socketReader } from '../support/api-socket.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'
import { CARRIERS, type TestSession } from '../support/session.ts'

const PORTS = 4

let relay: TestRelay
let victim: string
beforeAll(async () => {
  const first = await freeRange(PORTS)
  const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + PORTS - 1}` }
  relay = await startTestRelay({ TCP_ENABLED: 'true', ...range })
  victim = (await relay.register('victim')).hostname
})
afterAll(() => relay.close())

describe.each(CARRIERS)('the port of a site over %s', (carrier, open) => {
  const name = `own-${carrier.replaceAll(/[^a-z]/g, '').slice(-8)}`
  const account = newAccount()
  let session: TestSession
  let visitor: Socket
  let canonical: string

  /** A visitor of the port and the session that it gets. */
  async function visit(): Promise<void> {
    const { reverse_endpoint, tcp_addr, canonical_hostname } = await relay.register(name, {
      account,
      tcp_enabled: true,
    })
    canonical = canonical_hostname
    session = await open(relay, reverse_endpoint.capability)
    session.closed.catch(() => {}) // A native one is reset with its visitor.
    visitor = connect({ host: '127.0.0.1', port: Number(tcp_addr!.split(':')[1]), allowHalfOpen: true })
    visitor.on('error', () => {})
    await once(visitor, 'connect')
    expect(await session.read(1)).toEqual(Buffer.of(1))
  }

  const isReset = async (): Promise<unknown> =>
    await new Promise((resolve) => {
      visitor.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code)).resume()
    })

  test.each([
    ['another site', () => victim],
    ['the relay', () => 'relay.localhost'],
    ['nobody yet', () => 'nobody.relay.localhost'],
    ['a name below its own', () => `x.${name}.relay.localhost`],
  ])('is reset for a request that names %s, in one piece and in many', async (_, host) => {
    const request = `GET /path HTTP/1.1\r\nHost: ${host()}:34100\r\n\r\n`
    await visit()
    visitor.write(request)
    expect(await isReset()).toBe('ECONNRESET')
    await visit()
    visitor.setNoDelay(true)
    const reset = isReset()
    for (const byte of request) {
      visitor.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await reset).toBe('ECONNRESET')
  })

  test('is reset for a ClientHello that names another site (protocol §9.3.2)', async () => {
    await visit()
    visitor.write(await captureHello(victim))
    expect(await isReset()).toBe('ECONNRESET')
  })

  test('a site that answers a request before it comes reaches no visitor who names another site', async () => {
    await visit()
    await session.write(Buffer.from('HT'))
    expect(await socketReader(visitor)(2)).toEqual(Buffer.from('HT'))
    await session.write(Buffer.from('TP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n'))
    const got: Buffer[] = []
    visitor.on('data', (bytes: Buffer) => got.push(bytes))
    visitor.write(`GET / HTTP/1.1\r\nHost: ${victim}\r\n\r\n`)
    expect(await isReset()).toBe('ECONNRESET')
    expect(got).toEqual([])
  })

  test.each([
    ['its hostname', () => `${name}.relay.localhost`],
    ['its canonical hostname', () => canonical],
    ['an address', () => '127.0.0.1'],
    ['a host that is not the relay’s', () => 'relay.example'],
  ])('passes a request that names %s, with what follows', async (_, host) => {
    await visit()
    const request = `GET / HTTP/1.1\r\nHost: ${host()}:34100\r\n\r\n`
    for (const part of [request.slice(0, 20), request.slice(20), 'and more']) {
      visitor.write(part)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(String(await session.read(request.length + 8))).toBe(`${request}and more`)
    await session.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
    expect(String(await socketReader(visitor)(19))).toBe('HTTP/1.1 200 OK\r\n\r\n')
    visitor.destroy()
  })

  test('passes an answer that was kept back once the request is known', async () => {
    await visit()
    await session.write(Buffer.from('HTTP/1.1 408 Request Timeout\r\n\r\n'))
    visitor.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    expect(String(await socketReader(visitor)(32))).toBe('HTTP/1.1 408 Request Timeout\r\n\r\n')
    visitor.destroy()
  })

  test.each(['h', 'GET', 'P', '\x16', 'hello'])('passes %j at once, and the answer', async (text) => {
    await visit()
    visitor.write(text)
    expect(String(await session.read(text.length))).toBe(text)
    await session.write(Buffer.from('ok'))
    expect(String(await socketReader(visitor)(2))).toBe('ok')
    visitor.end(' and the end')
    expect(String(await session.read(12))).toBe(' and the end')
  })

  test('passes the banner of a server that speaks first, and a large body after it', async () => {
    await visit()
    const read = socketReader(visitor)
    await session.write(Buffer.from('220'))
    expect(String(await read(3))).toBe('220')
    const body = Buffer.alloc(300_000, 'x')
    void session.write(body)
    expect((await read(body.length)).equals(body)).toBe(true)
    visitor.write('EHLO victim.relay.localhost\r\n')
    expect(String(await session.read(29))).toBe('EHLO victim.relay.localhost\r\n')
    visitor.destroy()
  })
})
