// The relay's HTTP client against servers on loopback: its bounds in time, size, redirects and addresses, each attacked.
// Of the machine's own addresses, 127.0.0.2 stands for a public one.

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { HttpClient, type HttpClientOptions, type HttpRequest } from '../../src/core/outbound/http-client.ts'
import { INTERIM_RESPONSES_MAX } from '../../src/core/outbound/interim-responses.ts'

const PUBLIC = '127.0.0.2'
vi.mock('@svc/protocol', async (original) => ({
  ...(await original<object>()),
  isPublicAddress: (address: string) => address === '127.0.0.2',
}))

const HOST = 'api.relay.localhost'
const OTHER_HOST = 'other.relay.localhost'

let server: Server
let port: number
let handle: RequestListener
/** Addresses at which connections came in. */
let dialled: (string | undefined)[]
/** What DNS answers to each question; the last one again and again. */
let answers: string[][]
let questions: string[]

beforeEach(async () => {
  handle = (_, response) => void response.end('hello')
  dialled = []
  answers = [[PUBLIC]]
  questions = []
  server = createServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, (...call) => handle(...call))
  server.on('connection', ({ localAddress }) => dialled.push(localAddress?.replace('::ffff:', '')))
  server.on('tlsClientError', () => {})
  server.listen(0, '::')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const lookup: LookupFunction = (hostname, _options, callback) => {
  questions.push(hostname)
  const addresses = answers.length > 1 ? answers.shift()! : answers[0]!
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const missing = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { syscall: 'getaddrinfo' })
  process.nextTick(() => (found.length > 0 ? callback(null, found) : callback(missing, [])))
}

const client = (options: HttpClientOptions = {}) =>
  new HttpClient({ ca: CERTIFICATE_PEM, lookup, ...options })
const ask = (path = '/', request: HttpRequest = {}, host = HOST) =>
  client().request(`https://${host}:${port}${path}`, request)

test('a response comes with its status, header fields and body', async () => {
  handle = (request, response) => {
    response.writeHead(404, { 'X-Method': request.method })
    request.pipe(response)
  }
  const { url, status, headers, body } = await ask('/a?b', { method: 'POST', body: 'question' })
  expect(url.pathname + url.search).toBe('/a?b')
  expect([status, headers['x-method'], `${body}`]).toEqual([404, 'POST', 'question'])
})

test('a response comes behind a few interim ones; a server that sends more is cut', async () => {
  handle = (request, response) => {
    const more = request.url === '/more' ? 1 : 0
    for (let sent = 0; sent < INTERIM_RESPONSES_MAX + more; sent++) response.writeProcessing()
    response.end('hello')
  }
  expect(`${(await ask()).body}`).toBe('hello')
  await expect(ask('/more')).rejects.toMatchObject({ code: 'connection_failed' })
})

test('a certificate that is not trusted, or of another name, fails the connection', async () => {
  await expect(ask('/', {}, 'elsewhere.example')).rejects.toMatchObject({
    code: 'connection_failed',
    cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  })
  const untrusting = new HttpClient({ lookup })
  await expect(untrusting.request(`https://${HOST}:${port}`)).rejects.toMatchObject({
    code: 'connection_failed',
  })
})

test.each([
  'relay',
  '/path',
  'ftp://relay.localhost',
  'http://api.relay.localhost',
  'https://me:secret@relay.localhost',
])('%s is not asked', async (url) => {
  await expect(client().request(url)).rejects.toMatchObject({ code: 'invalid_url' })
  expect(questions).toEqual([])
})

describe('the deadline', () => {
  test('ends a name resolution that does not answer', async () => {
    const silent = client({ lookup: () => {} })
    await expect(silent.request(`https://${HOST}`, { deadlineMs: 50 })).rejects.toMatchObject({
      code: 'deadline_exceeded',
    })
  })

  test('ends a request that is not answered', async () => {
    handle = () => {}
    await expect(ask('/', { deadlineMs: 200 })).rejects.toMatchObject({ code: 'deadline_exceeded' })
  })

  test('ends a body that comes byte by byte, however steadily', async () => {
    handle = (_, response) => {
      const drip = setInterval(() => response.write('.'), 10)
      response.on('close', () => clearInterval(drip))
    }
    await expect(ask('/', { deadlineMs: 300 })).rejects.toMatchObject({ code: 'deadline_exceeded' })
  })

  test('is one for all redirects together', async () => {
    handle = (_, response) => void setTimeout(() => response.writeHead(302, { Location: '/' }).end(), 60)
    await expect(ask('/', { deadlineMs: 250, maxRedirects: 99 })).rejects.toMatchObject({
      code: 'deadline_exceeded',
    })
  })

  test("the caller's signal ends a request, too", async () => {
    handle = () => {}
    const abort = new AbortController()
    const response = ask('/', { signal: abort.signal })
    await once(server, 'request')
    abort.abort()
    await expect(response).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('the size of a body', () => {
  test.each(['with its length', 'in chunks'])('may be its bound, and no byte more: %s', async (framing) => {
    let length = 1000
    handle = (_, response) => {
      if (framing === 'in chunks') response.write('x')
      response.end('x'.repeat(framing === 'in chunks' ? length - 1 : length))
    }
    expect((await ask('/', { maxBytes: 1000 })).body).toHaveLength(1000)
    length = 1001
    await expect(ask('/', { maxBytes: 1000 })).rejects.toMatchObject({ code: 'response_too_large' })
  })

  test('that has no end is cut soon after the bound', async () => {
    let sent = 0
    handle = (_, response) => {
      const flood = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024
      }
      response.on('drain', flood)
      flood()
    }
    await expect(ask()).rejects.toMatchObject({ code: 'response_too_large' })
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('that is cut short is no response', async () => {
    handle = (_, response) => {
      response.writeHead(200, { 'Content-Length': 10 })
      response.write('half.', () => response.destroy())
    }
    await expect(ask()).rejects.toMatchObject({ code: 'connection_failed' })
  })
})

describe('a redirect', () => {
  const redirectTo = (location: string, status = 302): void => {
    handle = (request, response) => {
      if (request.url === '/end') response.end(JSON.stringify(request.headers))
      else response.writeHead(status, { Location: location }).end()
    }
  }

  test.each([301, 302, 303, 307, 308])('with %i is refused unless the caller takes some', async (status) => {
    redirectTo('/end', status)
    await expect(ask()).rejects.toMatchObject({ code: 'redirect_refused' })
    expect((await ask('/', { maxRedirects: 1 })).url.pathname).toBe('/end')
  })

  test('beyond the bound is refused', async () => {
    redirectTo('/')
    await expect(ask('/', { maxRedirects: 2 })).rejects.toMatchObject({ code: 'redirect_refused' })
    expect(questions).toHaveLength(3)
  })

  test('of a POST is refused', async () => {
    redirectTo('/end', 307)
    await expect(ask('/', { method: 'POST', maxRedirects: 1 })).rejects.toMatchObject({
      code: 'redirect_refused',
    })
  })

  test("to another origin does not carry the caller's header fields", async () => {
    const headers = { Authorization: 'Bearer secret' }
    redirectTo('/end')
    expect(`${(await ask('/', { headers, maxRedirects: 1 })).body}`).toContain('secret')
    redirectTo(`https://${OTHER_HOST}:${port}/end`)
    expect(`${(await ask('/', { headers, maxRedirects: 1 })).body}`).not.toContain('secret')
  })

  test('to a private address or name, or without TLS, is refused', async () => {
    redirectTo(`https://127.0.0.1:${port}/end`)
    await expect(ask('/', { maxRedirects: 1 })).rejects.toMatchObject({ code: 'address_blocked' })
    redirectTo(`https://${OTHER_HOST}:${port}/end`)
    answers = [[PUBLIC], ['127.0.0.1']]
    await expect(ask('/', { maxRedirects: 1 })).rejects.toMatchObject({ code: 'address_blocked' })
    redirectTo(`http://${HOST}/end`)
    answers = [[PUBLIC]]
    await expect(ask('/', { maxRedirects: 1 })).rejects.toMatchObject({ code: 'invalid_url' })
    expect(dialled).toEqual([PUBLIC, PUBLIC, PUBLIC])
  })
})

describe('the address rule', () => {
  test('a name without an address is not resolved', async () => {
    answers = [[]]
    await expect(ask()).rejects.toMatchObject({ code: 'name_not_resolved' })
  })

  test.each(['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0'])(
    'nothing is dialled at %s, by name or by number',
    async (address) => {
      answers = [[address]]
      const host = address.includes(':') ? `[${address}]` : address
      for (const name of [HOST, host])
        await expect(ask('/', {}, name)).rejects.toMatchObject({ code: 'address_blocked' })
      expect(dialled).toEqual([])
    },
  )

  test('an address in another notation is the same address', async () => {
    for (const host of ['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '127.0.0.1.'])
      await expect(ask('/', {}, host)).rejects.toMatchObject({ code: 'address_blocked' })
    expect(dialled).toEqual([])
  })

  test('of several addresses only the public ones are dialled', async () => {
    answers = [['::1', '127.0.0.1', PUBLIC]]
    await ask()
    expect(dialled).toEqual([PUBLIC])
  })

  test('of the public addresses those are dialled that the caller wants', async () => {
    const asked: string[] = []
    const mayDial = (address: string): boolean => asked.push(address) === 2
    answers = [['127.0.0.1', PUBLIC]]
    await expect(ask('/', { mayDial })).rejects.toMatchObject({ code: 'address_busy' })
    expect([asked, dialled]).toEqual([[PUBLIC], []])
    await ask('/', { mayDial })
    expect([asked, dialled]).toEqual([[PUBLIC, PUBLIC], [PUBLIC]])
    await expect(ask('/', { mayDial }, PUBLIC)).rejects.toMatchObject({ code: 'address_busy' })
    expect(dialled).toEqual([PUBLIC])
    const options = { configuredOrigins: [`https://${HOST}:${port}`] }
    await client(options).request(`https://${HOST}:${port}`, { isConfigured: true, mayDial: () => false })
    expect(dialled).toEqual([PUBLIC, '127.0.0.1'])
  })

  test('DNS rebinding: each dial resolves once and dials what it checked', async () => {
    answers = [[PUBLIC], ['127.0.0.1']]
    await ask()
    expect([questions, dialled]).toEqual([[HOST], [PUBLIC]])
    await expect(ask()).rejects.toMatchObject({ code: 'address_blocked' })
    expect([questions, dialled]).toEqual([[HOST, HOST], [PUBLIC]])
  })

  test.each(['127.0.0.1', '::1'])('an origin that the operator configured may be at %s', async (address) => {
    answers = [[address]]
    const configuredOrigins = [`https://${HOST}:${port}`]
    await client({ configuredOrigins }).request(`https://${HOST}:${port}/path`, { isConfigured: true })
    expect(dialled).toEqual([address])
    // another port or host of it is not configured
    for (const origin of [`https://${HOST}:${port - 1}`, `https://${OTHER_HOST}:${port}`])
      await expect(
        client({ configuredOrigins }).request(origin, { isConfigured: true }),
      ).rejects.toMatchObject({
        code: 'address_blocked',
      })
  })

  test('an origin that the operator configured may be without TLS', async () => {
    const { createServer: createHttpServer } = await import('node:http')
    const plain = createHttpServer((_, response) => void response.end('plain')).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const origin = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
    try {
      expect(
        `${(await client({ configuredOrigins: [origin] }).request(origin, { isConfigured: true })).body}`,
      ).toBe('plain')
      await expect(client().request(origin)).rejects.toMatchObject({ code: 'invalid_url' })
      // A stranger names the operator's origin: only a request that is for the operator may go there.
      const stranger = client({ configuredOrigins: [origin] }).request(origin)
      await expect(stranger).rejects.toMatchObject({ code: 'invalid_url' })
    } finally {
      plain.close()
    }
  })
})
