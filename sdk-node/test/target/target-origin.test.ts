// The origin that a target is told: the visitor's, or its own where it refuses that, as kinds of servers compare it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { HttpTargetOptions } from '../../src/target/http-target.ts'
import { REPEATED_BODY_MAX_BYTES } from '../../src/target/kept-body.ts'
import { listening } from '../support/exposed.ts'
import { TargetVisitor, WAYS } from '../support/ways.ts'

/** A response whose content is one line. */
const WHOLE = /\r\n\r\n[^\r\n]+\n$/

let ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.map((end) => end()))
  ends = []
})

/** Says whether the server takes the request; `own` is the host at which it listens. */
type Rule = (fields: IncomingMessage['headers'], own: string, asked: IncomingMessage) => boolean

const isLocal: Rule = ({ host }, own) => host === own
const isOf =
  (scheme: (fields: IncomingMessage['headers']) => unknown): Rule =>
  (fields, _, { method }) =>
    method !== 'POST' || fields.origin === `${scheme(fields)}://${fields.host}`

interface Seen {
  visitor: TargetVisitor
  /** Method, path, Host and Origin of each request. */
  seen: string[]
  own: string
}

describe.each(WAYS)('on the way: %s', (way) => {
  async function behind(
    rule: Rule,
    options: Partial<HttpTargetOptions> = {},
    refusal = 403,
    redirects: Record<string, string> = {},
  ): Promise<Seen> {
    const seen: string[] = []
    let own = ''
    const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { method, url, headers } = asked
      seen.push(`${method} ${url} ${headers.host} ${headers.origin ?? ''}`.trim())
      const isTaken = rule(headers, own, asked)
      const content = Buffer.concat(await asked.toArray()).toString()
      const text = `${content.length}\n`
      const location = isTaken && redirects[url!]?.replace('LOCAL', `http://${own}`)
      const said = { 'Content-Length': text.length, ...(location && { Location: location }) }
      response.writeHead(location ? 302 : isTaken ? 200 : refusal, said).end(text)
    }
    const server = createServer((...args) => void answer(...args))
    own = `localhost:${await listening(server)}`
    ends.push(() => {
      server.close()
      server.closeAllConnections()
    })
    return { visitor: new TargetVisitor(way, `http://${own}`, options), seen, own }
  }

  const get = (path = '/', fields = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: site.example\r\n${fields}\r\n`
  const post = (content = 'a=b', origin = 'https://site.example', path = '/form'): string =>
    `POST ${path} HTTP/1.1\r\nHost: site.example\r\nOrigin: ${origin}\r\nContent-Length: ${content.length}\r\n\r\n${content}`
  test('a server that takes any host is asked with that of the visitor, and nothing else is sent', async () => {
    const target = await behind(() => true)
    expect(await status(target, get('/a'))).toBe(200)
    expect(target.seen).toEqual(['GET /a site.example'])
  })

  test('a server that takes its own host alone gets that, and the owner is told', async () => {
    const target = await behind(isLocal)
    const { own, seen, visitor } = target
    expect(await status(target, get('/a'))).toBe(200)
    expect(seen).toEqual(['GET /a site.example', 'GET / site.example', `GET / ${own}`, `GET /a ${own}`])
    expect(visitor.failures).toEqual([
      expect.objectContaining({ code: 'host_refused', message: expect.stringContaining('site.example') }),
    ])
    seen.length = 0
    expect(await status(target, post())).toBe(200)
    expect(seen).toEqual([`POST /form ${own} http://${own}`])
    expect(visitor.failures).toHaveLength(1)
  })

  test('a server that takes its own host alone, except where `/` leads elsewhere, gets that', async () => {
    const target = await behind(
      (fields, own, asked) => isLocal(fields, own, asked) || asked.url === '/',
      {},
      403,
      {
        '/': '/tree?x',
        '/tree?x': 'LOCAL/login',
      },
    )
    const { own, seen } = target
    expect(await status(target, get('/a'))).toBe(200)
    const looked = ['GET / site.example', 'GET /tree?x site.example']
    const again = [`GET / ${own}`, `GET /tree?x ${own}`, `GET /login ${own}`]
    expect(seen).toEqual(['GET /a site.example', ...looked, ...again, `GET /a ${own}`])
  })

  test('a look follows a few redirects, and none to another site', async () => {
    const isTaken: Rule = (_, __, { url }) => url !== '/a'
    const round = await behind(isTaken, {}, 403, { '/': '/' })
    expect(await status(round, get('/a'))).toBe(403)
    expect(round.seen).toEqual(['GET /a site.example', ...Array(4).fill('GET / site.example')])
    const away = await behind(isTaken, {}, 403, { '/': 'https://other.example/a' })
    expect(await status(away, get('/a'))).toBe(403)
    expect(away.seen).toEqual(['GET /a site.example', 'GET / site.example'])
  })

  test('a server that is told its own host hears of no other', async () => {
    const fields: IncomingMessage['headers'][] = []
    const target = await behind((headers) => fields.push(headers) > 0, { host: 'rewrite' })
    await status(target, get())
    expect(Object.keys(fields[0]!).filter((name) => name.includes('forwarded'))).toEqual([])
  })

  test('a refusal that has another reason stays one, and is looked into once', async () => {
    const target = await behind((_, __, { url }) => url === '/')
    expect(await status(target, get('/admin'))).toBe(403)
    expect(await status(target, get('/admin'))).toBe(403)
    expect(target.seen).toEqual(['GET /admin site.example', 'GET / site.example', 'GET /admin site.example'])
    expect(target.visitor.failures).toEqual([])
  })

  test('a page for its own host alone does not open to visitors, since they cannot choose what is looked at', async () => {
    const target = await behind((fields, own, asked) => asked.url === '/' || isLocal(fields, own, asked))
    for (const request of [get('/console'), get('/console', 'Origin: https://site.example\r\n'), post()])
      expect(await status(target, request)).toBe(403)
  })

  test.each([
    ['the scheme that the proxy says', isOf((fields) => fields['x-forwarded-proto']), []],
    ['its own scheme', isOf(() => 'http'), ['http://site.example']],
  ])('a server that compares Origin with its host and %s takes forms', async (_, rule, tried) => {
    const target = await behind(rule)
    expect(await status(target, post())).toBe(200)
    const origins = target.seen.filter((line) => line.startsWith('POST')).map((line) => line.split(' ')[3])
    expect(origins).toEqual(['https://site.example', ...tried])
    target.seen.length = 0
    expect(await status(target, post())).toBe(200)
    expect(target.seen).toHaveLength(1)
  })

  test('a form of another site is sent once, as it is', async () => {
    const target = await behind(isOf(() => 'http'))
    await status(target, get())
    expect(await status(target, post('a=b', 'https://other.example'))).toBe(403)
    const posts = target.seen.filter((line) => line.startsWith('POST'))
    expect(posts).toEqual(['POST /form site.example https://other.example'])
  })

  test('a form that is refused whatever it says is sent twice', async () => {
    const target = await behind((_, __, { method }) => method === 'GET')
    for (let i = 0; i < 3; i += 1) expect(await status(target, post())).toBe(403)
    expect(target.seen.filter((line) => line.startsWith('POST'))).toHaveLength(6)
  })

  test('neither a refusal for another reason nor another path hides that the origin is compared', async () => {
    const isHttp = isOf(() => 'http')
    const target = await behind((fields, own, asked) => {
      if (asked.url === '/hook') return true
      return fields['content-length'] !== '5' && isHttp(fields, own, asked)
    })
    expect(await status(target, post('wrong'))).toBe(403)
    expect(await status(target, post('a=b', undefined, '/hook'))).toBe(200)
    expect(await status(target, post())).toBe(200)
    expect(target.seen.at(-1)).toBe('POST /form site.example http://site.example')
  })

  test('a refusal for a while, which has another reason, spoils the forms of nobody', async () => {
    const isHttps = isOf(() => 'https')
    let refusals = 1
    const target = await behind((fields, own, asked) =>
      asked.url === '/once' ? refusals-- <= 0 : isHttps(fields, own, asked),
    )
    expect(await status(target, post('a=b', undefined, '/once'))).toBe(200)
    expect(await status(target, post())).toBe(200)
    target.seen.length = 0
    expect(await status(target, post())).toBe(200)
    expect(target.seen).toEqual(['POST /form site.example https://site.example'])
  })

  test('a safe request that is refused for a while does not make the server believe in another host', async () => {
    let refusals = 2
    const target = await behind((_, __, { url }) => url !== '/busy' || refusals-- <= 0)
    expect(await status(target, get('/busy', 'Origin: https://site.example\r\n'))).toBe(200)
    target.seen.length = 0
    expect(await status(target, get('/a'))).toBe(200)
    expect(target.seen).toEqual(['GET /a site.example'])
    expect(target.visitor.failures).toEqual([])
  })

  test('a path that took the origin once is asked once, whatever it refuses later', async () => {
    const target = await behind(
      (fields, _, { method }) => method === 'GET' || fields['content-length'] === '3',
    )
    expect(await status(target, post())).toBe(200)
    target.seen.length = 0
    expect(await status(target, post('wrong'))).toBe(403)
    expect(target.seen.filter((line) => line.startsWith('POST'))).toHaveLength(1)
    for (let i = 0; i < 256; i += 1) await status(target, post('a=b', undefined, `/${i}`))
    target.seen.length = 0
    expect(await status(target, post('wrong'))).toBe(403)
    expect(target.seen.filter((line) => line.startsWith('POST'))).toHaveLength(2)
  })

  test.each([400, 421])('a host may be refused with %d', async (refusal) => {
    const target = await behind(isLocal, {}, refusal)
    expect(await status(target, get())).toBe(200)
  })

  test('a path that alone refuses the host with 421 stays refused, and the owner is told once what helps', async () => {
    const target = await behind(
      (fields, own, asked) => asked.url !== '/mcp' || isLocal(fields, own, asked),
      {},
      421,
    )
    for (let i = 0; i < 2; i += 1) expect(await status(target, post('{}', undefined, '/mcp'))).toBe(421)
    expect(target.visitor.failures).toEqual([
      expect.objectContaining({
        code: 'host_refused',
        message: expect.stringContaining('--host-header rewrite'),
      }),
    ])
    expect(target.seen.filter((line) => !line.includes(' site.example'))).toEqual([])
    const rewritten = await behind(isLocal, { host: 'rewrite' }, 421)
    expect(await status(rewritten, post('{}', undefined, '/mcp'))).toBe(200)
    expect(rewritten.visitor.failures).toEqual([])
  })

  test('a form that is refused as a Bad Request is not sent again', async () => {
    const target = await behind((_, __, { method }) => method === 'GET', {}, 400)
    for (let i = 0; i < 2; i += 1) expect(await status(target, post())).toBe(400)
    expect(target.seen.filter((line) => line.startsWith('POST'))).toHaveLength(2)
  })

  test('content that is too long to be kept is sent once', async () => {
    const target = await behind(isOf(() => 'http'))
    expect(await status(target, post('x'.repeat(REPEATED_BODY_MAX_BYTES + 1)))).toBe(403)
    expect(target.seen.filter((line) => line.startsWith('POST'))).toHaveLength(1)
    // the next one is short
    expect(await status(target, post('x'.repeat(REPEATED_BODY_MAX_BYTES)))).toBe(200)
  })

  test('a server that knows its own origin alone, whatever the host, gets that of a safe request', async () => {
    const target = await behind(({ origin }, own) => origin === undefined || origin === `http://${own}`)
    expect(await status(target, get('/_next/a.js', 'Origin: https://site.example\r\n'))).toBe(200)
    const [asked, own] = ['https://site.example', `http://${target.own}`].map(
      (origin) => `GET /_next/a.js site.example ${origin}`,
    )
    expect(target.seen.slice(-2)).toEqual([own, asked])
    expect(target.visitor.failures).toHaveLength(1)
    await status(target, post())
    expect(target.seen.at(-1)).toBe(`POST /form ${target.own} http://${target.own}`)
  })

  test.each([
    ['preserve', 'site.example'],
    ['app.test:8080', 'app.test:8080'],
  ])('host %s: it is what the server gets, refused or not', async (host, sent) => {
    const target = await behind(isLocal, { host })
    expect(await status(target, get())).toBe(403)
    expect(target.seen).toEqual([`GET / ${sent}`])
    expect(target.visitor.failures).toEqual([])
  })

  test('host app.test: the origin is that, too', async () => {
    const target = await behind(() => true, { host: 'app.test' })
    await status(target, post())
    expect(target.seen).toEqual(['POST /form app.test http://app.test'])
  })

  test('what was learnt outlives a fault in an answer', async () => {
    const target = await behind((fields, own, asked) => {
      if (asked.url === '/cut') asked.socket.destroy()
      return isLocal(fields, own, asked)
    })
    expect(await status(target, get())).toBe(200)
    expect(await status(target, get('/cut'))).toBe(502)
    target.seen.length = 0
    expect(await status(target, get())).toBe(200)
    expect(target.seen).toEqual([`GET / ${target.own}`])
  })

  test('another server at the same address is looked at anew', async () => {
    const target = await behind(isLocal)
    expect(await status(target, get())).toBe(200)
    await ends.pop()!()
    expect(await status(target, get())).toBe(502)
    const port = Number(target.own.split(':')[1])
    const seen: (string | undefined)[] = []
    const next = createServer((asked, response) => {
      seen.push(asked.headers.host)
      response.writeHead(200, { 'Content-Length': 3 }).end('ok\n')
    }).listen(port, '127.0.0.1')
    ends.push(() => {
      next.close()
      next.closeAllConnections()
    })
    await once(next, 'listening')
    expect(await status(target, get())).toBe(200)
    expect(seen).toEqual(['site.example'])
  })

  async function status({ visitor }: Seen, request: string): Promise<number> {
    await visitor.send(request)
    let received = ''
    while (!WHOLE.test(received)) received += await visitor.receive('\n')
    return Number(received.split(' ')[1])
  }
})

test.each(['', 'a b', 'a/b', 'http://a', 'a@b', 'a:99999', 'a?b'])('host %j is refused', (host) => {
  expect(() => new TargetVisitor('direct', 'http://localhost:1', { host })).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  )
})
