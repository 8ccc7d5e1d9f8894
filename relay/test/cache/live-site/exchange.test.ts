// Tests the exchange of a live site and its visitors through the relay: fields, streams and their ends, over both versions of HTTP.

import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { HandMadeSite } from '../../support/live-sites.ts'
import { askSite, beginRequest, closeOf, http2To, readAnswer } from '../../support/live-visitor.ts'
import { nodeHttp } from '../../support/tls-site.ts'
import { useLiveRelay } from '../../support/use-live-relay.ts'

const live = useLiveRelay()
const open = (listener: RequestListener): Promise<HandMadeSite> => live.open(nodeHttp(listener).serve)

describe('fields', () => {
  test('those of the connection and those that a server would believe stay out, and the others go through as they came', async () => {
    const site = await open((request, response) => response.end(JSON.stringify(request.rawHeaders)))
    const { text } = await askSite(live.relay, site, '/', {
      headers: {
        Connection: 'close, X-Mine',
        'X-Mine': 'a',
        TE: 'trailers',
        'Proxy-Authorization': 'Basic a',
        Forwarded: 'for=192.0.2.1',
        'X-Forwarded-For': '192.0.2.1',
        'X-Real-IP': '192.0.2.1',
        X_Forwarded_For: '192.0.2.1',
        'Remote-User': 'admin',
        'X-WebAuth-User': 'admin',
        'X-Svc-Wallet': '0x1',
        SSL_CLIENT_VERIFY: 'SUCCESS',
        'X-Original-URL': '/admin',
        Proxy: 'http://192.0.2.1',
        'X-Custom': 'kept, as it is',
      },
    })
    const { host, hostname } = new URL(site.url)
    const relayHost = hostname.slice(hostname.indexOf('.') + 1)
    expect(JSON.parse(text)).toEqual([
      'Host',
      host,
      'X-Custom',
      'kept, as it is',
      'Via',
      `1.1 ${relayHost}`,
      'Connection',
      'keep-alive',
    ])
  })

  test('of a response: those of the connection stay out, and Set-Cookie comes as often as the site sent it', async () => {
    const site = await open((_request, response) => {
      response.writeHead(203, 'Fine', [
        'Connection',
        'X-Mine',
        'X-Mine',
        'a',
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Custom',
        'kept',
      ])
      response.end('body')
    })
    const answer = await askSite(live.relay, site, '/')
    expect(answer).toMatchObject({ status: 203, text: 'body' })
    expect(answer.headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-custom': 'kept' })
    expect(answer.headers).not.toHaveProperty('x-mine')
  })

  test('a request that the relay has passed on already is not passed on again', async () => {
    const site = await open((_request, response) => response.end())
    const { hostname } = new URL(site.url)
    const relayHost = hostname.slice(hostname.indexOf('.') + 1)
    expect(
      (await askSite(live.relay, site, '/', { headers: { Via: `1.1 other, 2 ${relayHost}` } })).status,
    ).toBe(508)
    expect(site.connections).toHaveLength(0)
  })

  test('HTTP/2: one cookie field, no pseudo field, and trailers', async () => {
    const site = await open((request, response) => {
      response.writeHead(200, { Trailer: 'X-Sum', 'Set-Cookie': ['a=1', 'b=2'] })
      response.write(JSON.stringify(request.rawHeaders))
      response.addTrailers({ 'X-Sum': 'abc' })
      response.end()
    })
    const { host } = new URL(site.url)
    const visitor = http2To(live.relay, site)
    const stream = visitor.request({ ':path': '/', cookie: ['c=3', 'd=4'] })
    const trailers = once(stream, 'trailers')
    const [headers] = await once(stream, 'response')
    let text = ''
    for await (const chunk of stream) text += chunk
    expect(headers).toMatchObject({ ':status': 200, 'set-cookie': ['a=1', 'b=2'] })
    expect(headers).not.toHaveProperty('transfer-encoding')
    const fields = JSON.parse(text) as string[]
    expect(fields.slice(0, 4)).toEqual(['Host', host, 'Cookie', 'c=3; d=4'])
    expect(fields.filter((field) => field.startsWith(':'))).toEqual([])
    expect((await trailers)[0]).toMatchObject({ 'x-sum': 'abc' })
    visitor.close()
  })

  test('trailers of a request reach the site, but for those that would change its meaning', async () => {
    const site = await open(async (request, response) => {
      request.resume()
      await once(request, 'end')
      response.end(JSON.stringify(request.trailers))
    })
    const asked = beginRequest(live.relay, site, '/', { method: 'POST', headers: { Trailer: 'X-Sum' } })
    asked.write('body')
    asked.addTrailers({ 'X-Sum': 'abc', Cookie: 'a=b', Authorization: 'Bearer a' })
    asked.end()
    const [response] = await once(asked, 'response')
    expect(JSON.parse((await readAnswer(response)).text)).toEqual({ 'x-sum': 'abc' })
  })
})

describe('streams', () => {
  test('a response arrives piece by piece while the site still writes it', async () => {
    let next: (() => void) | undefined
    const site = await open((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
      next = () => response.write('data: 1\n\n')
    })
    const asked = beginRequest(live.relay, site, '/')
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    next!()
    expect(String((await once(response, 'data'))[0])).toBe('data: 1\n\n')
    asked.destroy()
  })

  test('a site gets a body piece by piece while the visitor still sends it', async () => {
    const { promise: request, resolve } = Promise.withResolvers<IncomingMessage>()
    const site = await open((request, response) => {
      resolve(request)
      request.on('end', () => response.end('got it')).resume()
    })
    const asked = beginRequest(live.relay, site, '/', { method: 'POST' })
    asked.write('first')
    expect(String((await once(await request, 'data'))[0])).toBe('first')
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    expect((await readAnswer(response)).text).toBe('got it')
  })

  test('a visitor who leaves ends the request at the site', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const site = await open((_request, response) => {
      response.writeHead(200)
      response.write('a')
      response.once('close', resolve)
    })
    const asked = beginRequest(live.relay, site, '/')
    asked.end()
    await once(asked, 'response')
    asked.destroy()
    await closed
  })

  test('a body that breaks off is never whole for the site', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const site = await open((request, _response) => {
      request.once('data', () => begin())
      request.once('end', () => resolve('end')).once('error', () => resolve('error'))
    })
    const asked = beginRequest(live.relay, site, '/', { method: 'POST', headers: { 'Content-Length': '10' } })
    asked.on('error', () => {})
    asked.write('12345')
    await begun
    asked.destroy()
    expect(await ended).toBe('error')
  })

  test('over HTTP/2, a body that is longer or shorter than it says is never whole for the site', async () => {
    const bodies: string[] = []
    const site = await open((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.once('end', () => {
        bodies.push(body)
        response.end()
      })
      request.on('error', () => {})
    })
    const visitor = http2To(live.relay, site)
    visitor.on('error', () => {})
    for (const body of ['123', '1234567890']) {
      const stream = visitor.request({ ':path': '/', ':method': 'POST', 'content-length': '5' })
      stream.on('error', () => {}).resume()
      stream.end(body)
      await closeOf(stream)
    }
    visitor.destroy()
    expect(bodies).toEqual([])
  })

  test.each(['http/1.1', 'h2'])(
    'over %s, a response that breaks off does not look whole',
    async (protocol) => {
      const site = await open(async (request, response) => {
        response.writeHead(200)
        response.write('a')
        await setTimeout(50)
        request.socket.destroy()
      })
      if (protocol === 'h2') {
        const visitor = http2To(live.relay, site)
        const stream = visitor.request({ ':path': '/' })
        stream.resume()
        await expect(once(stream, 'close')).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
        visitor.close()
      } else await expect(askSite(live.relay, site, '/')).rejects.toMatchObject({ code: 'ECONNRESET' })
    },
  )

  test('over HTTP/2, a site may answer before it has the whole body, and the visitor may stop to send', async () => {
    const site = await open((_request, response) => {
      response.writeHead(413, { Connection: 'close' })
      response.end('too much')
    })
    const visitor = http2To(live.relay, site)
    const stream = visitor.request({ ':path': '/', ':method': 'POST' }, { endStream: false })
    stream.write('some')
    const [headers] = await once(stream, 'response')
    let text = ''
    for await (const chunk of stream) text += chunk
    expect([headers[':status'], text]).toEqual([413, 'too much'])
    if (!stream.closed) await once(stream, 'close')
    expect(stream.rstCode).toBe(0)
    visitor.close()
  })

  test('a site may answer before it has the whole body', async () => {
    const site = await open((_request, response) => {
      response.writeHead(413, { Connection: 'close' })
      response.end('too much')
    })
    const asked = beginRequest(live.relay, site, '/', { method: 'POST' })
    asked.on('error', () => {})
    asked.write(Buffer.alloc(100_000))
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    expect(await readAnswer(response)).toMatchObject({ status: 413, text: 'too much' })
  })

  test('the site decides whether a visitor who asks first must send its body', async () => {
    const { server, serve } = nodeHttp((request, response) => {
      request.on('end', () => response.end('whole')).resume()
    })
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      response.writeContinue()
      server.emit('request', request, response)
    })
    const site = await live.open(serve)
    const asked = beginRequest(live.relay, site, '/', {
      method: 'POST',
      headers: { Expect: '100-continue', 'Content-Length': '4' },
    })
    asked.flushHeaders()
    await once(asked, 'continue')
    asked.end('body')
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    expect((await readAnswer(response)).text).toBe('whole')
  })
})
