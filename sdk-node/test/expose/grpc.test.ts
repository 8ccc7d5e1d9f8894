// gRPC through `expose`, which ends the visitors' TLS: the client and the server of @grpc/grpc-js, and trailers with node:http2.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Metadata, status } from '@grpc/grpc-js'
import { DIRECT } from '@svc/sdk-core'
import { afterEach, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { Exposure, SvcError } from '../../src/index.ts'
import { httpTarget } from '../../src/target/http-target.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { EchoClient, EchoServer, MESSAGE_BYTES } from '../support/grpc-echo.ts'
import { startTestRelay } from '../support/relay.ts'

const TLS = { cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }
const NAME = 'relay.localhost'

const relay = useStarted(startTestRelay)

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

const failures: SvcError[] = []

async function exposed(http: string): Promise<Exposure> {
  failures.length = 0
  const exposure = await exposeAt(relay, {
    http,
    targetCa: CERTIFICATE_PEM,
    targetServerName: NAME,
    onTargetError: (error) => failures.push(error),
  })
  ends.push(() => exposure.close())
  return exposure
}

async function echo(scheme: string): Promise<{ server: EchoServer; client: EchoClient }> {
  const server = await new EchoServer().start(scheme === 'https')
  ends.push(() => server.server.forceShutdown())
  return { server, client: clientOf(await exposed(`${scheme}://127.0.0.1:${server.port}`)) }
}

function clientOf({ sites }: Exposure): EchoClient {
  const client = new EchoClient(relay.port, relay.ca, new URL(sites[0]!.url).host)
  ends.push(() => client.client.close())
  return client
}

async function http2Session({ sites }: Exposure): Promise<ClientHttp2Session> {
  const session = connect(sites[0]!.url, { ca: relay.ca, host: '127.0.0.1', port: relay.port } as object)
  session.on('error', () => {})
  ends.push(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

function trailerServer(server: Http2Server): Http2Server {
  ends.push(() => server.close())
  return server.on('stream', (stream: ServerHttp2Stream, headers) => {
    let trailers = {}
    stream.on('trailers', (came) => {
      trailers = { ...came }
    })
    stream.resume()
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'x-te': String(headers.te) }, { waitForTrailers: true })
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'x-came': JSON.stringify(trailers), location: 'http://127.0.0.1:1/' }),
      )
      stream.end(headers[':method'] === 'POST' ? 'content' : undefined)
    })
  })
}

describeVariants('a target at %s://', ['http', 'grpc', 'h2c', 'https'], (scheme) => {
  it('answers a call, with metadata in both directions and a status in trailers', async () => {
    const { client } = await echo(scheme)
    const metadata = new Metadata()
    metadata.add('x-said', 'one')
    const large = Buffer.alloc(600_000, 'gRPC')
    const { answer, head, status: ok } = await client.unary(large, metadata)
    expect(answer?.equals(large)).toBe(true)
    expect(head.get('x-heard')).toEqual(['one'])
    expect(ok.metadata.get('x-last-bin')).toEqual([Buffer.from([0, 255])])
    const refused = await client.unary(Buffer.alloc(0))
    expect(refused.status).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: 'nothing to echo – „leer“',
    })
    expect(refused.status.metadata.get('x-last-bin')).toHaveLength(1)
    expect(failures).toEqual([])
  })

  it('holds a conversation, message by message', async () => {
    const { client } = await echo(scheme)
    const call = client.stream()
    for (const message of ['one', 'two', 'three']) {
      call.write(Buffer.from(message))
      const [answer] = await once(call, 'data')
      expect(String(answer)).toBe(message)
    }
    call.end()
    const [{ code }] = await once(call, 'status')
    expect(code).toBe(status.OK)
  })
})

it('a server at a Unix socket answers calls and holds conversations', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'grpc-'))
  ends.push(() => rm(folder, { recursive: true }))
  const address = `unix:${join(folder, 'grpc.sock')}`
  const { server } = await new EchoServer().start(false, address)
  ends.push(() => server.forceShutdown())
  const client = clientOf(await exposed(address))
  const { answer, status: ok } = await client.unary(Buffer.from('one'))
  expect(String(answer)).toBe('one')
  expect(ok.metadata.get('x-last-bin')).toEqual([Buffer.from([0, 255])])
  const call = client.stream()
  call.write(Buffer.from('two'))
  expect(String((await once(call, 'data'))[0])).toBe('two')
  call.end()
  expect((await once(call, 'status'))[0].code).toBe(status.OK)
  expect(failures).toEqual([])
})

describe('back-pressure', () => {
  const MESSAGES = 200

  /** Lets everything happen that does not wait for the visitor or the server: each call goes the whole way. */
  async function settled(client: EchoClient): Promise<void> {
    for (let calls = 0; calls < 30; calls += 1) await client.unary(Buffer.alloc(MESSAGE_BYTES, 'x'))
  }

  wholeOnly(it, 'depth')('a visitor that reads nothing stops the server, and others go on', async () => {
    const { server, client } = await echo('grpc')
    const call = client.flood(MESSAGES)
    call.pause()
    await settled(client)
    expect(server.flooded).toBeGreaterThan(0)
    expect(server.flooded).toBeLessThan(MESSAGES)
    let came = 0
    call.on('data', ({ length }: Buffer) => {
      came += length
    })
    call.resume()
    await once(call, 'end')
    expect(came).toBe(MESSAGES * MESSAGE_BYTES)
  })

  wholeOnly(it, 'depth')('a server that reads nothing stops the visitor, and others go on', async () => {
    const { server, client } = await echo('grpc')
    const total = Promise.withResolvers<string>()
    const call = client.sink((error, bytes) => (error ? total.reject(error) : total.resolve(String(bytes))))
    let sent = 0
    const sending = (async () => {
      for (; sent < MESSAGES; sent += 1)
        await new Promise<void>((resolve) => call.write(Buffer.alloc(MESSAGE_BYTES, sent), () => resolve()))
      call.end()
    })()
    await settled(client)
    expect(sent).toBeLessThan(MESSAGES)
    server.call!.resume()
    await sending
    expect(await total.promise).toBe(String(MESSAGES * MESSAGE_BYTES))
  })
})

it('a visitor that cancels a call ends it at the server', async () => {
  const { server, client } = await echo('grpc')
  const call = client.stream()
  call.on('error', () => {})
  call.write(Buffer.from('one'))
  await once(call, 'data')
  call.cancel()
  await server.cancelled.promise
})

it('a server that ends within an answer is no end of the call without a fault', async () => {
  const { server, client } = await echo('grpc')
  const call = client.stream()
  const failed = once(call, 'error')
  call.write(Buffer.from('one'))
  await once(call, 'data')
  server.server.forceShutdown()
  const [{ code }] = (await failed) as [{ code: number }]
  expect(code).not.toBe(status.OK)
})

it('more calls at once than one connection to the server has', async () => {
  const server = await new EchoServer().start(false)
  ends.push(() => server.server.forceShutdown())
  const exposure = await exposed(`grpc://127.0.0.1:${server.port}`)
  const clients = [clientOf(exposure), clientOf(exposure)]
  const calls = clients.flatMap((client) => Array.from({ length: 75 }, () => client.stream()))
  const answers = calls.map(async (call, n) => {
    call.write(Buffer.from(String(n)))
    return String((await once(call, 'data'))[0])
  })
  expect(await Promise.all(answers)).toEqual(calls.map((_, n) => String(n)))
  for (const call of calls) call.end()
  await Promise.all(calls.map((call) => once(call, 'status')))
})

it('an answer that the target cuts off is no whole one', async () => {
  const server = createServer().on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 })
    stream.write('begun', () => stream.destroy())
  })
  ends.push(() => server.close())
  const { sites } = await exposed(`h2c://127.0.0.1:${await listening(server)}`)
  await expect(visit(relay, sites[0]!.url).then(text)).rejects.toThrow(/aborted|hang up/)
})

describe('a server that does not speak HTTP/2', () => {
  it.each(['http', 'https'])('at %s:// answers no call, and the fault says why', async (scheme) => {
    const server = scheme === 'http' ? createHttpServer() : createHttpsServer(TLS)
    server.on('request', (_, response) => response.end('plain'))
    ends.push(() => server.close())
    const exposure = await exposed(`${scheme}://127.0.0.1:${await listening(server)}`)
    const { status: failed } = await clientOf(exposure).unary(Buffer.from('x'))
    expect(failed.code).toBe(status.UNAVAILABLE)
    expect(failures[0]?.message).toMatch(/does not speak HTTP\/2/)
    // and everything else as before
    expect(await text(await visit(relay, exposure.sites[0]!.url))).toBe('plain')
  })
})

it('a call may be silent for as long as its visitor likes, and no other content', async () => {
  const server = createServer().on('stream', (stream: ServerHttp2Stream) => {
    stream.resume()
    stream.respond({ ':status': 200 }, { endStream: true })
  })
  ends.push(() => server.close())
  const direct = httpTarget(new URL(`h2c://127.0.0.1:${await listening(server)}`), { onError: () => {} })[
    DIRECT
  ]!
  const waits = async (type: string): Promise<(number | undefined)[]> => {
    const asked: (number | undefined)[] = []
    const next = async (stallMs?: number): Promise<undefined> => void asked.push(stallMs)
    const url = new URL('https://site.example/')
    const answer = await direct({
      method: 'POST',
      url,
      fields: [['content-type', type]],
      body: { next },
    })!.respond()
    answer.cancel(undefined)
    return asked
  }
  const grpc = ['application/grpc', 'application/grpc+proto', 'application/grpc;x=y']
  for (const type of grpc) expect(await waits(type)).toEqual([Number.POSITIVE_INFINITY])
  for (const type of ['application/grpc-web', 'application/json'])
    expect(await waits(type)).toEqual([undefined])
})

describe('HTTP/2 to the target', () => {
  it.each(['h2c', 'https'])('carries trailers both ways, at %s://', async (scheme) => {
    const server = trailerServer(scheme === 'https' ? createSecureServer(TLS) : createServer())
    const session = await http2Session(await exposed(`${scheme}://127.0.0.1:${await listening(server)}`))
    for (const method of ['POST', 'PUT']) {
      const stream = session.request({ ':method': method, te: 'trailers' }, { waitForTrailers: true })
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'x-sum': '1', 'x-forwarded-for': '1.2.3.4', 'x-svc-wallet': '0x0' }),
      )
      const heads = Promise.all([once(stream, 'response'), once(stream, 'trailers')])
      stream.end('content')
      const content = text(stream as never)
      const [[head], [trailers]] = await heads
      expect(head).toMatchObject({ ':status': 200, 'x-te': 'trailers' })
      expect(await content).toBe(method === 'POST' ? 'content' : '')
      expect(JSON.parse(String(trailers['x-came']))).toEqual({ 'x-sum': '1' })
    }
  })

  it('serves pages of a server that speaks nothing else, with and without TLS', async () => {
    for (const [scheme, server] of [
      ['h2c', createServer()],
      ['https', createSecureServer(TLS)],
    ] as const) {
      server.on('request', (request, response) => {
        response.writeEarlyHints({ link: '</s.css>; rel=preload' })
        response.setHeader('Set-Cookie', ['a=b', 'c=d'])
        response.end(`${request.headers[':authority']} ${request.url} ${request.headers.cookie}`)
      })
      ends.push(() => server.close())
      const { sites } = await exposed(`${scheme}://127.0.0.1:${await listening(server)}`)
      const answer = await visit(relay, sites[0]!.url, '/a?b', { headers: { Cookie: 'x=y' } })
      expect(answer.headers['set-cookie']).toEqual(['a=b', 'c=d'])
      expect(await text(answer)).toBe(`${new URL(sites[0]!.url).host} /a?b x=y`)
    }
  })
})
