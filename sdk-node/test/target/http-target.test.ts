// A local HTTP server behind a site, on both ways: what a target may answer, and how its connections are used.

import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { HEAD_BYTES } from '../../../sdk-core/src/semantics/limits.ts'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { INTERIM_RESPONSES_MAX, RESPONSE_FIELDS_MAX } from '../../src/http-client/response-head.ts'
import { listening } from '../support/exposed.ts'
import { type Answer, type RawTarget, rawTarget } from '../support/raw-target.ts'
import { TargetVisitor, WAYS } from '../support/ways.ts'

const HOST = 'Host: site.example\r\n'
const GET = `GET / HTTP/1.1\r\n${HOST}\r\n`
const OK = 'HTTP/1.1 200 OK\r\n'
const BOTH = 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'
const LAST = `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`

let ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.map((end) => end()))
  ends = []
})

async function raw(answer: Answer): Promise<RawTarget> {
  const target = await rawTarget(answer)
  ends.push(target.close)
  return target
}

async function http(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener)
  ends.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${await listening(server)}`
}

/** A target that answers when a content that ends with an empty line is there, and sends no 100. */
async function rawEcho(): Promise<string> {
  let heads = 0
  const target = await raw((socket) => {
    if (++heads === 2) socket.write(`${OK}Content-Length: 6\r\n\r\ngot it`)
  })
  return target.url
}

describe.each(WAYS)('on the way: %s', (way) => {
  /** What a visitor gets whose target sends `bytes` as its only answer, and then ends. */
  async function answered(bytes: string, request = GET): Promise<string> {
    const target = await raw((socket) => socket.end(bytes, 'latin1'))
    const visitor = await new TargetVisitor(way, target.url).send(request)
    return visitor.receive('\n')
  }

  describe('RFC 9112 §6.3 the length of the content', () => {
    test.each([
      ['Content-Length', 'HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\nhello', /\r\ncontent-length: 5\r\n/i],
      [
        'the chunked coding, with extensions and trailers',
        'HTTP/1.1 200 Fine\r\nTransfer-Encoding: Chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n',
        '',
      ],
      ['the end of the connection', 'HTTP/1.1 200 Fine\r\n\r\nhello', ''],
      ['the end of the connection, in HTTP/1.0', 'HTTP/1.0 200 Fine\r\n\r\nhello', ''],
    ])('%s', async (_, bytes, field) => {
      const target = await raw((socket) => socket.end(bytes, 'latin1'))
      const visitor = await new TargetVisitor(way, target.url).send(LAST)
      const answer = await visitor.rest()
      expect(answer).toMatch(/^HTTP\/1\.1 200 Fine\r\n/)
      expect(answer).toMatch(field)
      expect(answer.replaceAll(/\r\n[\da-f]+\r\n|0\r\n\r\n$/g, '')).toMatch(/hello/)
      expect(visitor.failures).toEqual([])
    })

    test.each([
      ['HEAD', `HEAD / HTTP/1.1\r\n${HOST}\r\n`, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', true],
      ['204', GET, 'HTTP/1.1 204 No Content\r\n\r\n', false],
      ['304', GET, 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', false],
      ['304 with a length', GET, 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', true],
      ['HEAD with both framings', `HEAD / HTTP/1.1\r\n${HOST}\r\n`, `${OK}${BOTH}\r\n`, false],
      ['304 with both framings', GET, `HTTP/1.1 304 Not Modified\r\n${BOTH}\r\n`, false],
    ])('%s has none, and the connection goes on', async (_, request, bytes, hasLength) => {
      const target = await raw((socket) => socket.write(bytes, 'latin1'))
      const visitor = await new TargetVisitor(way, target.url).send(request, request)
      const answer = await visitor.receive('\r\n\r\n', 2)
      expect(/\r\ncontent-length: 5\r\n/i.test(answer)).toBe(hasLength)
      expect(answer).not.toMatch(/transfer-encoding/i)
      expect(target.sockets).toHaveLength(1)
    })
  })

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n', 'did not answer with HTTP/1.1'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n', 'did not answer with HTTP/1.1'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'did not answer with HTTP/1.1'],
    [
      'a status above 599',
      'HTTP/1.1 600 OK\r\n\r\n',
      'answered with the status 600, which HTTP does not have',
    ],
    ['a bare LF', 'HTTP/1.1 200 OK\nA: b\r\n\r\n', 'answered with a line that does not end with CRLF'],
    ['a bare CR', 'HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n', 'answered with a malformed header field (A)'],
    [
      'a folded field',
      'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n',
      'answered with a header field on more than one line',
    ],
    [
      'a space in a name',
      'HTTP/1.1 200 OK\r\nX Foo: b\r\n\r\n',
      'answered with a malformed header field (X)',
    ],
    ['no name', 'HTTP/1.1 200 OK\r\n: b\r\n\r\n', 'answered with a malformed header field (without a name)'],
    [
      'a control character',
      'HTTP/1.1 200 OK\r\nX-Foo: \x01\r\n\r\n',
      'answered with a malformed header field (X-Foo)',
    ],
    [
      'two lengths',
      `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      'answered with two different lengths',
    ],
    ['a list of two lengths', `${OK}Content-Length: 1, 2\r\n\r\nab`, 'answered with two different lengths'],
    ['a length with a sign', `${OK}Content-Length: +1\r\n\r\na`, 'answered with an invalid Content-Length'],
    [
      'both framings',
      `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'answered with two different lengths',
    ],
    [
      'another coding',
      `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      'answered with a transfer coding other than chunked',
    ],
    [
      'two codings',
      `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
      'answered with a transfer coding other than chunked',
    ],
    [
      'chunks in HTTP/1.0',
      'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'answered in HTTP/1.0 with a transfer coding',
    ],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      'switched protocols without a request to',
    ],
    ['no end of the head', `${OK}A: b\r\n`, 'ended the connection during its answer'],
    [
      'too large a head',
      `${OK}A: ${'b'.repeat(HEAD_BYTES)}\r\n\r\n`,
      'answered with a header section that is too large',
    ],
    [
      'too many fields',
      `${OK}${'A: b\r\n'.repeat(RESPONSE_FIELDS_MAX + 1)}\r\n`,
      'answered with a header section that is too large',
    ],
    [
      'too many interim responses',
      'HTTP/1.1 102 Wait\r\n\r\n'.repeat(INTERIM_RESPONSES_MAX + 1),
      'answered with too many interim responses',
    ],
    [
      'an invalid chunk at once',
      `${OK}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
      'answered with a malformed chunk',
    ],
    ['nothing', '', 'ended the connection without an answer'],
  ])(
    'a target that answers with %s is 502, and the visitor and the site learn why',
    async (_, bytes, fault) => {
      const target = await raw((socket) => socket.end(bytes, 'latin1'))
      const visitor = await new TargetVisitor(way, target.url).send(GET.replace('/', '/a%20b?secret'))
      const answer = await visitor.receive(')\n')
      expect(answer).toMatch(/^HTTP\/1\.1 502 /m)
      expect(answer.split('\r\n\r\n').at(-1)).toBe(`The server behind this site ${fault} (GET /a%20b)\n`)
      expect(visitor.failures.map(({ code, message }) => [code, message])).toEqual([
        ['target_unreachable', `${new URL(target.url).host} ${fault} (GET /a%20b)`],
      ])
    },
  )

  test.each([
    ['white space around a chunk’s size', 'Transfer-Encoding: chunked\r\n\r\n5 \t\r\nhello\r\n0  \r\n\r\n'],
    ['white space in its extensions', 'Transfer-Encoding: chunked\r\n\r\n5 ; a = "b"\r\nhello\r\n0\r\n\r\n'],
    ['white space before a colon', 'Content-Length : 5\r\n\r\nhello'],
    ['equal lengths', 'Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello'],
    ['a list of equal lengths', 'Content-Length: 5, 5\r\n\r\nhello'],
    ['the coding identity', 'Transfer-Encoding: identity\r\n\r\nhello'],
  ])('%s is taken, as browsers and proxies do', async (_, bytes) => {
    const target = await raw((socket) => socket.end(`${OK}${bytes}`, 'latin1'))
    const visitor = await new TargetVisitor(way, target.url).send(LAST)
    const answer = await visitor.rest()
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n(?:5\r\n)?hello(?:\r\n0\r\n\r\n)?$/s)
    expect(answer.match(/content-length|transfer-encoding/gi)).toHaveLength(1)
    expect(visitor.failures).toEqual([])
  })

  test.each([
    ['an invalid chunk size', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nx\r\n'],
    ['a chunk that does not end', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n'],
    ['chunks without the last', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'],
    ['a content that is too short', '200 OK\r\nContent-Length: 5\r\n\r\nhell'],
  ])('%s never looks whole', async (_, bytes) => {
    const target = await raw((socket) => socket.end(`HTTP/1.1 ${bytes}`, 'latin1'))
    const visitor = await new TargetVisitor(way, target.url).send(LAST)
    const answer = await visitor.rest().catch(() => undefined)
    if (answer !== undefined) expect(answer).toMatch(/^HTTP\/1\.1 50[02] /)
  })

  test('the fields about the connection are dropped', async () => {
    const answer = await answered(
      'HTTP/1.1 200\r\nConnection: X-Named, close\r\nX-Named: 1\r\nKeep-Alive: timeout=5\r\nX-Kept: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n',
    )
    expect(answer.toLowerCase().split('\r\n').sort()).toEqual(
      ['http/1.1 200 ok', 'x-kept: 2', 'set-cookie: a', 'set-cookie: b', 'content-length: 0', '', ''].sort(),
    )
  })

  describe('connections to the target', () => {
    test('one is kept for requests in a row', async () => {
      const target = await raw((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
      const visitor = await new TargetVisitor(way, target.url).send(GET, GET, GET)
      await visitor.receive('ok', 3)
      expect(target.sockets).toHaveLength(1)
    })

    test.each([
      ['says so', 'Connection: close\r\n'],
      ['closes it within the margin', 'Keep-Alive: timeout=1\r\n'],
    ])('none is kept when the target %s', async (_, field) => {
      const target = await raw((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n${field}Content-Length: 2\r\n\r\nok`),
      )
      const visitor = await new TargetVisitor(way, target.url).send(GET, GET)
      await visitor.receive('ok', 2)
      expect(target.sockets).toHaveLength(2)
    })

    test('a response that nobody asked for is nobody’s: its connection is closed', async () => {
      const target = await raw((socket, _, connection) => {
        const bytes = `HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${connection}`
        socket.write(connection === 1 ? `${bytes}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged` : bytes)
      })
      const visitor = await new TargetVisitor(way, target.url).send(GET, GET)
      const answers = await visitor.receive('\r\n\r\n2')
      expect(answers).not.toContain('forged')
    })

    test('a kept one that the target closes is replaced for a safe request without content', async () => {
      const target = await raw((socket, _, connection) => {
        const isSecond = connection === 1 && socket.bytesWritten > 0
        if (isSecond) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      })
      const visitor = await new TargetVisitor(way, target.url).send(GET, GET)
      await visitor.receive('ok', 2)
      expect(target.sockets).toHaveLength(2)
    })

    test('a request that may have had an effect is not sent twice', async () => {
      const heads: string[] = []
      const target = await raw((socket, head) => {
        heads.push(head)
        if (heads.length === 2) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      })
      const post = `POST / HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`
      const visitor = await new TargetVisitor(way, target.url).send(GET, post)
      expect(await visitor.receive('answer (POST /)\n')).toContain('HTTP/1.1 502 ')
      expect(heads).toHaveLength(2)
    })

    test('a visitor that half-closes after a whole request gets the answer', async () => {
      const asked = Promise.withResolvers<() => void>()
      const target = await raw((socket) =>
        asked.resolve(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
      )
      const visitor = await new TargetVisitor(way, target.url).send(GET)
      const respond = await asked.promise
      await visitor.end()
      // The SDK has read the end by the time at which bytes have passed a socket.
      respond()
      expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nok$/s)
    })

    test('one that half-closes within its content ends the request', async () => {
      const target = await raw(() => {})
      const visitor = new TargetVisitor(way, target.url)
      await visitor.send(`POST / HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\npart`)
      await expect.poll(() => target.sockets.length).toBe(1)
      const closed = once(target.sockets[0]!, 'close')
      await visitor.end()
      await closed
      expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 400 /)
    })

    test('the visitor that leaves ends the one that works for it', async () => {
      const target = await raw((socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\npart'))
      const visitor = await new TargetVisitor(way, target.url).send(GET)
      await visitor.receive('part')
      visitor.stream.abort()
      await once(target.sockets[0]!, 'close')
    })
  })

  test('RFC 9110 §10.1.1: a visitor that waits is asked for its content', async () => {
    const url = await http((asked, response) => void asked.pipe(response))
    const visitor = new TargetVisitor(way, url)
    await visitor.send(`PUT / HTTP/1.1\r\n${HOST}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`)
    await visitor.receive('HTTP/1.1 100 Continue\r\n\r\n')
    await visitor.send('hello')
    expect(await visitor.receive('hello')).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test('RFC 9110 §10.1.1: the target decides whether it wants the content', async () => {
    const heads: string[] = []
    const target = await raw((socket, head) => {
      heads.push(head)
      socket.write('HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n')
    })
    const visitor = await new TargetVisitor(way, target.url).send(
      `PUT / HTTP/1.1\r\n${HOST}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
    )
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 417 No\r\n/)
    expect(heads).toEqual([expect.stringMatching(/^Expect: 100-continue\r$/m)])
  })

  test('a target that does not know the expectation gets the content, too', async () => {
    const url = await rawEcho()
    const visitor = await new TargetVisitor(way, url).send(
      `PUT / HTTP/1.1\r\n${HOST}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
    )
    await visitor.receive('HTTP/1.1 100 Continue\r\n\r\n')
    await visitor.send('hello\r\n\r\n')
    expect(await visitor.receive('got it')).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test('a target that answers before it has read the content: its answer counts', async () => {
    const target = await raw((socket) =>
      socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'),
    )
    const visitor = await new TargetVisitor(way, target.url).send(
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 300000\r\n\r\n`,
      'x'.repeat(1000),
    )
    expect(await visitor.receive('\r\n\r\nno')).toMatch(/^HTTP\/1\.1 413 Too Large/)
  })

  test('an HTTP/1.0 visitor gets a content of unknown length up to the end', async () => {
    const url = await http((_, response) => {
      response.write('hel')
      response.end('lo')
    })
    const visitor = await new TargetVisitor(way, url).send(`GET / HTTP/1.0\r\n${HOST}\r\n`)
    expect(await visitor.rest()).toMatch(/connection: close\r\n\r\nhello$/)
  })

  test('a visitor that reads slowly holds the target back', async () => {
    const BLOCK = Buffer.alloc(1024 * 1024)
    const BLOCKS = 64
    let taken = 0
    function* blocks(): Generator<Buffer> {
      for (; taken < BLOCKS; taken++) yield BLOCK
    }
    const url = await http((_, response) => {
      response.setHeader('Content-Length', BLOCK.length * BLOCKS)
      Readable.from(blocks()).pipe(response)
    })
    const visitor = await new TargetVisitor(way, url).send(GET)
    const isStill = async (): Promise<boolean> => {
      const before = taken
      await new Promise((resolve) => setTimeout(resolve, 500))
      return taken === before
    }
    await expect.poll(isStill).toBe(true)
    expect(taken).toBeLessThan(BLOCKS / 2)
    let received = 0
    while (received < BLOCK.length * BLOCKS) received += (await visitor.stream.read())!.length
    expect(taken).toBe(BLOCKS)
  })

  test('an HTTPS target, over a kept connection', async () => {
    let connections = 0
    const server = createHttpsServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, (_, response) => {
      response.end('secure')
    })
    server.on('secureConnection', () => (connections += 1))
    ends.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const url = `https://relay.localhost:${await listening(server)}`
    const visitor = await new TargetVisitor(way, url, { ca: CERTIFICATE_PEM }).send(GET, GET)
    await visitor.receive('secure', 2)
    expect(connections).toBe(1)
  })
})

test('the path of the target stands before that of the request, which cannot leave it', async () => {
  const paths: string[] = []
  const url = await http((asked, response) => {
    paths.push(asked.url!)
    response.end('ok')
  })
  const visitor = await new TargetVisitor('direct', `${url}/base/`).send(
    GET.replace('/', '/../a/%2e%2e/b?c=d#'.slice(0, -1)),
    GET.replace('/', '//other.example/x'),
  )
  await visitor.receive('ok', 2)
  expect(paths).toEqual(['/base/b?c=d', '/base//other.example/x'])
})

describe('RFC 9110 §15.2 interim responses', () => {
  const EARLY =
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\nX: 1\r\n\r\n'
  const FINAL = `${OK}Content-Length: 2\r\n\r\nok`

  test('reach a visitor before the target has answered', async () => {
    const asked = Promise.withResolvers<() => void>()
    const target = await raw((socket) => {
      socket.write(EARLY)
      asked.resolve(() => socket.write(FINAL))
    })
    const visitor = await new TargetVisitor('direct', target.url).send(GET)
    const early = await visitor.receive('\r\n\r\n', 2)
    expect(early).toBe('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    const finish = await asked.promise
    finish()
    expect(await visitor.receive('\r\n\r\nok')).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test('but no visitor of HTTP/1.0', async () => {
    const target = await raw((socket) => socket.write(EARLY + FINAL))
    const visitor = await new TargetVisitor('direct', target.url).send(`GET / HTTP/1.0\r\n${HOST}\r\n`)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 200 OK/)
  })
})

test('path and query arrive as they were sent', async () => {
  const lines: string[] = []
  const target = await raw((socket, head) => {
    lines.push(head.split('\r\n', 1)[0]!.slice('GET '.length, -' HTTP/1.1'.length))
    socket.write(`${OK}Content-Length: 2\r\n\r\nok`)
  })
  const AS_SENT = [
    '/a\\b',
    '/?',
    '/a?',
    '/[a]{b}|c',
    '/`a`^"<>',
    "/?'a'[]^`{}|\\",
    '/a/...',
    '/a%2fb/.c?/../d',
    '//x/y',
  ]
  const RESOLVED = ['/a/../b^', '/a/%2E./b', '/a\\..\\b', '/a/./b/.', '/..?a`']
  const sent = [...AS_SENT, ...RESOLVED].map((path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`)
  const visitor = await new TargetVisitor('direct', target.url).send(...sent)
  await visitor.receive('ok', sent.length)
  expect(lines).toEqual([...AS_SENT, '/b%5E', '/b', '/b', '/a/b/', '/?a`'])
})

test('over HTTP/1.1 the names of fields keep their case both ways, and cookies their number of fields', async () => {
  let asked = ''
  const target = await raw((socket, head) => {
    asked = head
    socket.write(`${OK}X-OwN: 1\r\nset-COOKIE: a=b\r\nETag: "x"\r\nConTent-Length: 2\r\n\r\nok`)
  })
  const visitor = await new TargetVisitor('direct', target.url).send(
    'POST / HTTP/1.1\r\nhOst: site.example\r\nX-AbC: 1\r\nCOOKIE: a=b\r\nSOAPAction: x\r\nCookie: c=d\r\nConTent-Length: 0\r\n\r\n',
  )
  const answer = await visitor.receive('\r\n\r\nok')
  expect(answer.split('\r\n').slice(1, 5)).toEqual([
    'X-OwN: 1',
    'set-COOKIE: a=b',
    'ETag: "x"',
    'Content-Length: 2',
  ])
  expect(asked.split('\r\n')).toEqual(
    expect.arrayContaining(['X-AbC: 1', 'COOKIE: a=b', 'SOAPAction: x', 'Cookie: c=d', 'ConTent-Length: 0']),
  )
  expect(asked).toMatch(/^Host: /m)
})
