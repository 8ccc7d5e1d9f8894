// Tests the redirect listener: where it sends whom, and what hostile clients can neither get nor hold.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { REQUEST_HEAD_MAX_BYTES } from '@svc/node-kit/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { curl } from '../../../tools/programs/curl.ts'
import { REDIRECT_CONNECTIONS_PER_NETWORK_MAX } from '../../src/features/redirect/redirect-listener.ts'
import { freePort, ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'

const TIMEOUT_MS = 120_000
let relay: TestRelay
let port = 0
let site = ''

beforeAll(async () => {
  port = await freePort()
  relay = await startTestRelay({ HTTP_REDIRECT_ADDR: `127.0.0.1:${port}` })
  site = (await relay.register('redirected')).hostname
})
afterAll(() => relay.close())

test('curl follows it to the relay, with path and query', async () => {
  const stdout = await curl(
    join(relay.directory, 'ca.pem'),
    ...['--location', '--resolve', `${ROOT_HOST}:${port}:127.0.0.1`],
    ...['--resolve', `${ROOT_HOST}:${relay.port}:127.0.0.1`, '--output', '/dev/null'],
    ...['--write-out', '%{num_redirects} %{url_effective}'],
    `http://${ROOT_HOST}:${port}/api/healthz?a=b`,
  )
  expect(stdout.toString()).toBe(`1 https://${ROOT_HOST}:${relay.port}/api/healthz?a=b`)
})

describe('a request', () => {
  const to = (host: string, path: string) => `https://${host}:${relay.port}${path}`

  test('for the relay or for a site of it is redirected, with its method', async () => {
    for (const host of [ROOT_HOST, site, site.toUpperCase(), `${site}.`, `${site}:80`, `${ROOT_HOST}:`])
      for (const method of ['GET', 'HEAD', 'POST', 'PROPFIND'])
        expect(
          await ask(`${method} /a/b?c=%20d HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`),
        ).toEqual({
          status: 308,
          location: to(host.toLowerCase().replace(/\.?(:\d*)?$/, ''), '/a/b?c=%20d'),
        })
  })

  test('with an address as its target goes where that says, whatever Host says', async () => {
    for (const [target, path] of [
      ['', '/'],
      ['/', '/'],
      ['/x?y', '/x?y'],
      ['//evil.test/', '//evil.test/'],
    ])
      expect(await ask(`GET http://${site}${target} HTTP/1.1\r\nHost: evil.test\r\n\r\n`)).toEqual({
        status: 308,
        location: to(site, path!),
      })
    expect((await ask(`GET http://evil.test/ HTTP/1.1\r\nHost: ${site}\r\n\r\n`)).status).toBe(421)
  })

  test('for a proof of http-01 is not redirected, however it is spelled', async () => {
    const challenges = '/.well-known/acme-challenge'
    for (const path of [
      `${challenges}/token`,
      `${challenges}/token?a=b`,
      `${challenges}/`,
      challenges,
      `${challenges}?`,
      '/.well-known/acme%2dchallenge/token',
      '/%2ewell-known/acme-challenge/token',
      '/.well-known%2Facme-challenge%2ftoken',
      '/%2E%77%65%6c%6C-known/%61cme-challenge/token',
      '//.well-known///acme-challenge/token',
      '/./.well-known/a/../acme-challenge/token',
      '/a/%2e%2E/.well-known/acme-challenge/token',
      '/.Well-Known/ACME-Challenge/token',
    ])
      for (const target of [path, `http://${site}${path}`, `HTTP://${ROOT_HOST}${path}`])
        expect(await ask(`GET ${target} HTTP/1.1\r\nHost: ${site}\r\n\r\n`), target).toEqual({
          status: 404,
          location: undefined,
        })
    for (const path of [
      '/?/.well-known/acme-challenge/token',
      '/a/.well-known/acme-challenge/token',
      '/.well-known/acme-challenges',
      '/.well-known/security.txt',
      '/%zz/%',
    ])
      expect(await ask(`GET ${path} HTTP/1.1\r\nHost: ${site}\r\n\r\n`), path).toEqual({
        status: 308,
        location: to(site, path),
      })
  })

  test('for a host that is not served gets no address', async () => {
    for (const host of ['evil.test', `evil.${ROOT_HOST}`, `a.${site}`, 'localhost', '127.0.0.1', '.', '_'])
      expect(await ask(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`), host).toEqual({
        status: 421,
        location: undefined,
      })
  })

  test.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: {site}\r\nHost: evil.test\r\n\r\n'],
    ['the same Host twice', 'GET / HTTP/1.1\r\nHost: {site}\r\nHost: {site}\r\n\r\n'],
    ['a list of Hosts', 'GET / HTTP/1.1\r\nHost: {site}, evil.test\r\n\r\n'],
    ['userinfo in Host', 'GET / HTTP/1.1\r\nHost: {site}@evil.test\r\n\r\n'],
    ['a path in Host', 'GET / HTTP/1.1\r\nHost: {site}/evil\r\n\r\n'],
    ['a bad port in Host', 'GET / HTTP/1.1\r\nHost: {site}:80@evil.test\r\n\r\n'],
    ['a line break in Host', 'GET / HTTP/1.1\r\nHost: {site}\rSet-Cookie: a=b\r\n\r\n'],
    ['a line break in the target', 'GET /\rSet-Cookie: a=b HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['a line feed in the target', 'GET /\nSet-Cookie:a=b HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['a NUL in the target', 'GET /\0 HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['octets beyond ASCII in the target', 'GET /\xff HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['a target without a slash', 'GET .evil.test HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['a target that begins with @', 'GET @evil.test/ HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['a target of another scheme', 'GET ftp://{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['a target with userinfo', 'GET http://{site}@evil.test/ HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03'],
    ['a PROXY header', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: {site}\r\n\r\n'],
    [
      'a large head',
      `GET / HTTP/1.1\r\nHost: {site}\r\nX: ${'x'.repeat(2 * REQUEST_HEAD_MAX_BYTES)}\r\n\r\n`,
    ],
    ['a long target', `GET /${'x'.repeat(2 * REQUEST_HEAD_MAX_BYTES)} HTTP/1.1\r\nHost: {site}\r\n\r\n`],
  ])('with %s gets no address', async (_what, request) => {
    const { status, location } = await ask(request.replaceAll('{site}', site))
    expect([undefined, 400, 431]).toContain(status)
    expect(location).toBeUndefined()
  })

  test('is the only one of its connection', async () => {
    const one = `GET / HTTP/1.1\r\nHost: ${site}\r\n\r\n`
    expect((await exchange(one + one)).match(/HTTP\/1\.1/g)).toHaveLength(1)
  })
})

test('connections of one network are bounded, and those that say nothing end', async () => {
  const silent = await Promise.all(Array.from({ length: REDIRECT_CONNECTIONS_PER_NETWORK_MAX }, open))
  const ended = silent.map(closed)
  const oneMore = await open()
  await closed(oneMore)
  silent[0]!.destroy()
  await expect.poll(() => statusNow(), { timeout: TIMEOUT_MS }).toBe(308)
  for (const socket of silent.slice(1, 20)) socket.write('GET / HTTP/1.1\r\nHost')
  await Promise.all(ended)
})

test('a site that has gone is not redirected to', async () => {
  const { hostname: host, access_token } = await relay.register('gone')
  expect((await ask(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(308)
  await relay.call('POST', '/sdk/unregister', { access_token })
  expect((await ask(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(421)
})

test('the usual port is not in the address, and a port that is taken is named', async () => {
  const other = await freePort()
  const env = { SVC_URL: `https://${ROOT_HOST}`, SNI_PORT: `${await freePort()}` }
  const usual = await startTestRelay({ ...env, HTTP_REDIRECT_ADDR: `${other}` })
  try {
    const request = `GET /x HTTP/1.1\r\nHost: ${ROOT_HOST}\r\n\r\n`
    expect(await ask(request, other)).toEqual({ status: 308, location: `https://${ROOT_HOST}/x` })
    const taken = startTestRelay({ HTTP_REDIRECT_ADDR: `127.0.0.1:${port}` })
    await expect(taken).rejects.toThrow(/^HTTP_REDIRECT_ADDR: .*EADDRINUSE/)
  } finally {
    await usual.close()
  }
})

async function statusNow(): Promise<number | undefined> {
  return (await ask(`GET / HTTP/1.1\r\nHost: ${site}\r\n\r\n`)).status
}

async function ask(
  request: string,
  at: number = port,
): Promise<{ status: number | undefined; location: string | undefined }> {
  const text = await exchange(request, at)
  const [, status] = /^HTTP\/1\.1 (\d+) /.exec(text) ?? []
  const [, location] = /^location: (.*?)\r$/im.exec(text) ?? []
  expect(text).not.toMatch(/^set-cookie/im)
  return { status: status === undefined ? undefined : Number(status), location }
}

/** Sends bytes and reads until the end of the connection. */
async function exchange(request: string, at: number = port): Promise<string> {
  const socket = await open(undefined, 0, at)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.write(Buffer.from(request, 'latin1'))
  await closed(socket)
  return text
}

async function open(_value?: unknown, _index?: number, at: number = port): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: at })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())))
}
