// Tests a relay behind proxies: every limit sees the client's true address, and no other client can forge one.

import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { PolicyStateResponse, RegisterResponse } from '@svc/protocol'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { openCarrier } from '../support/carrier.ts'
import {
  LOCAL,
  PROXY_TCP4,
  PROXY_TCP6,
  PROXY_UNIX,
  proxyHeader,
  tcp4,
  tcp6,
  tlv,
  withChecksum,
} from '../support/proxy-header.ts'
import { ROOT_HOST, readAll, startTestRelay } from '../support/relay.ts'

const PROXY = '127.0.0.1'
const STRANGER = '127.0.0.2'
const ALERT_RECORD = 0x15
/** Header of the record, level and description. */
const ALERT_BYTES = 7
const CLIENT = '203.0.113.7'
const bearer = { Authorization: 'Bearer a-long-random-value' }
const fromClient = proxyHeader(PROXY_TCP4, tcp4(CLIENT))

let renewed: RegisterResponse
const relay = useStarted(() =>
  startTestRelay({
    TRUSTED_PROXIES: `${PROXY}, 10.0.0.0/8, 2001:db8:aa::/48`,
    ADMIN_TOKEN: 'a-long-random-value',
    SOURCE_BUDGET_PER_MINUTE: '100',
  }),
)
beforeAll(async () => {
  renewed = await relay.register('renewed', { ttl: 600 })
})

async function tcp(from: string): Promise<Socket> {
  const socket = connectTcp({ host: '127.0.0.1', port: relay.port, localAddress: from })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

interface Asked {
  /** Written before TLS. */
  preface?: Buffer | Buffer[]
  headers?: Record<string, string>
  from?: string
  path?: string
  body?: object
}

/** One request on a connection of its own. */
async function ask({
  preface = [],
  headers = {},
  from = PROXY,
  path = '/sdk/register/challenge',
  body = {},
}: Asked) {
  const socket = await tcp(from)
  for (const piece of [preface].flat()) {
    socket.write(piece)
    await sleep(1)
  }
  const tls = connectTls({ socket, servername: ROOT_HOST, ca: relay.ca })
  const answer = readAll(tls)
  const text = JSON.stringify(body)
  const head = Object.entries({
    Host: ROOT_HOST,
    Connection: 'close',
    'Content-Length': `${Buffer.byteLength(text)}`,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  tls.write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${text}`)
  const [, status, json] = /^HTTP\/1\.1 (\d+) .*?\r\n\r\n(.*)$/s.exec((await answer).toString()) ?? []
  return { status: Number(status), error: JSON.parse(json!).error?.code }
}

/** Whether the relay closes a connection that begins so, a good ClientHello behind it or not; an alert is no answer. */
async function isRefused(preface: Buffer, from: string): Promise<boolean> {
  const socket = await tcp(from)
  socket.write(Buffer.concat([preface, await captureHello(ROOT_HOST)]))
  const begun = await new Promise<Buffer>((resolve) => {
    socket.once('data', resolve).once('close', () => resolve(Buffer.alloc(0)))
  })
  // Else this is a ServerHello, and the relay would wait for the rest of a handshake.
  if (begun.length === 0 || begun[0] === ALERT_RECORD)
    return [0, ALERT_BYTES].includes(begun.length + (await readAll(socket)).length)
  socket.destroy()
  return false
}

async function ban(ip: string, is_banned: boolean): Promise<void> {
  const answer = await relay.call('POST', '/api/policy/ips', { ip, is_banned }, bearer)
  expect(answer.status).toBe(200)
}

/** The address from which the relay takes the request to come: a lease that is renewed tells it. */
async function sourceOf(asked: Asked): Promise<string | undefined> {
  const body = { access_token: renewed.access_token }
  expect(await ask({ ...asked, path: '/sdk/renew', body })).toMatchObject({ status: 200 })
  return await clientIpOf('renewed')
}

async function clientIpOf(lease: string): Promise<string | undefined> {
  const { json } = await relay.call('GET', '/api/policy/state', undefined, bearer)
  const { leases } = json.data as unknown as PolicyStateResponse
  return leases.find(({ name }) => name === lease)?.client_ip
}

/** Whether the relay takes the request to come from `ip`: banned, it refuses it, and not when it is allowed again. */
async function comesFrom(ip: string, asked: Asked): Promise<boolean> {
  const identity = { name: 'x', address: `0x${'ab'.repeat(20)}` }
  await ban(ip, true)
  const banned = await ask({ ...asked, body: { identity } })
  await ban(ip, false)
  return banned.error === 'ip_banned'
}

const ACCEPTED = { status: 400, error: 'invalid_request' }

describe('PROXY protocol from a listed address', () => {
  test.each([
    ['IPv4', fromClient, CLIENT],
    ['IPv6', proxyHeader(PROXY_TCP6, tcp6('20010db8000000000000000000000007')), '2001:db8::7'],
    [
      'with TLVs',
      proxyHeader(PROXY_TCP4, Buffer.concat([tcp4(CLIENT), tlv(2, Buffer.from(ROOT_HOST))])),
      CLIENT,
    ],
    ['with a checksum', withChecksum(PROXY_TCP4, tcp4(CLIENT)), CLIENT],
    [
      'as large as can be',
      proxyHeader(PROXY_TCP4, Buffer.concat([tcp4(CLIENT), tlv(4, Buffer.alloc(4065))])),
      CLIENT,
    ],
    ['LOCAL', proxyHeader(LOCAL), PROXY],
    ['UNIX', proxyHeader(PROXY_UNIX, Buffer.alloc(216)), PROXY],
    ['in single bytes', Array.from(fromClient, (byte) => Buffer.of(byte)), CLIENT],
    ['missing: the proxy speaks for itself', [], PROXY],
  ])('%s', async (_name, preface, source) => {
    expect(await sourceOf({ preface })).toBe(source)
  })

  test('counts for a ban: that of its client, and of nobody else', async () => {
    // Administration comes from the proxy's own address, which a ban does not shut out.
    expect(await comesFrom(CLIENT, { preface: fromClient })).toBe(true)
    expect(await comesFrom('203.0.113.8', { preface: fromClient })).toBe(false)
    expect(await comesFrom(PROXY, {})).toBe(true)
    expect(await comesFrom('203.0.113.8', {})).toBe(false)
  })

  test('in one piece with the ClientHello, for a tenant as well', async () => {
    const lease = await relay.register('tenant')
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const { read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const hello = await captureHello(lease.hostname)
    const visitor = await tcp(PROXY)
    visitor.write(Buffer.concat([fromClient, hello]))
    expect(await read(1)).toEqual(Buffer.of(0x02))
    await read(16)
    expect(await read(hello.length)).toEqual(hello)
    visitor.destroy()
  })

  test.each([
    ['twice', Buffer.concat([fromClient, fromClient])],
    ['with a wrong checksum', withChecksum(PROXY_TCP4, tcp4(CLIENT)).fill(1, 31)],
    ['too large', proxyHeader(PROXY_TCP4, Buffer.concat([tcp4(CLIENT), tlv(4, Buffer.alloc(4066))]))],
    ['too short for its family', proxyHeader(PROXY_TCP4, Buffer.alloc(11))],
    ['of UDP', proxyHeader([0x21, 0x12], tcp4(CLIENT))],
    ['of version 1', Buffer.from(`PROXY TCP4 ${CLIENT} 192.0.2.1 1 443\r\n`)],
    ['that ends early', fromClient.subarray(0, 20)],
    ['that is garbage', Buffer.from('\r\n\r\ngarbage garbage garbage garbage')],
  ])('a header %s: the connection is closed', async (_name, preface) => {
    expect(await isRefused(preface, PROXY)).toBe(true)
    expect(await ask({ preface: fromClient })).toEqual(ACCEPTED)
  })

  test('a header that stops half-way is cut 2 s after its first byte', async () => {
    const started = Date.now()
    const socket = await tcp(PROXY)
    socket.write(fromClient.subarray(0, 13))
    for (const byte of fromClient.subarray(13, 17)) {
      await sleep(400)
      socket.write(Buffer.of(byte))
    }
    expect(await readAll(socket)).toEqual(Buffer.alloc(0))
    expect(Date.now() - started).toBeGreaterThan(1_900)
  })

  test('a proxy that ends, or that says nothing, is no trouble', async () => {
    const [silent, half] = [await tcp(PROXY), await tcp(PROXY)]
    half.end(fromClient.subarray(0, 20))
    expect(await readAll(half)).toEqual(Buffer.alloc(0))
    expect(await ask({ preface: fromClient })).toEqual(ACCEPTED)
    silent.destroy()
  })
})

describe('PROXY protocol from any other address', () => {
  test('is a bad ClientHello', async () => {
    expect(await isRefused(fromClient, STRANGER)).toBe(true)
    expect(await isRefused(Buffer.alloc(0), STRANGER)).toBe(false)
    expect(await ask({ from: STRANGER })).toEqual(ACCEPTED)
  })
})

describe('Forwarded', () => {
  const forwarded = (value: string, rest: Asked = {}) => ({ headers: { Forwarded: value }, ...rest })

  test.each([
    ['one hop', 'for=203.0.113.7;proto=https', CLIENT],
    ['IPv6 and a port', 'for="[2001:db8::7]:4711"', '2001:db8::7'],
    ['what the client wrote itself is hearsay', 'for=198.51.100.1, for=203.0.113.7', CLIENT],
    ['trusted hops are walked over', 'for=203.0.113.7, for=10.1.2.3, for="[2001:db8:aa::1]"', CLIENT],
    ['only trusted hops: the first of them', 'for=10.1.2.3, for=10.9.9.9', '10.1.2.3'],
    ['unknown: the proxy that says so', 'for=203.0.113.8, for=unknown, for=10.9.9.9', '10.9.9.9'],
    ['obfuscated: the same', 'for=_hidden', PROXY],
    ['empty', ',', PROXY],
  ])('%s', async (_name, value, source) => {
    expect(await sourceOf(forwarded(value))).toBe(source)
  })

  test('several fields are one list (RFC 9110 §5.3)', async () => {
    const headers = { Forwarded: 'for=198.51.100.1', forwarded: 'for=203.0.113.7' }
    expect(await comesFrom(CLIENT, { headers })).toBe(true)
  })

  test('from an address that is not listed it says nothing, malformed or not', async () => {
    expect(await comesFrom(STRANGER, forwarded('for=203.0.113.7', { from: STRANGER }))).toBe(true)
    expect(await comesFrom(CLIENT, forwarded('for=203.0.113.7', { from: STRANGER }))).toBe(false)
    expect(await ask(forwarded('for=;;"', { from: STRANGER }))).toEqual(ACCEPTED)
  })

  test('behind a PROXY header it counts only when that names a listed address', async () => {
    expect(await comesFrom(CLIENT, forwarded('for=198.51.100.1', { preface: fromClient }))).toBe(true)
    const inner = proxyHeader(PROXY_TCP4, tcp4('10.1.2.3'))
    expect(await comesFrom(CLIENT, forwarded('for=203.0.113.7', { preface: inner }))).toBe(true)
  })

  test('a malformed one is refused, so that its sender cannot pass for the proxy', async () => {
    for (const value of [
      'for=203.0.113.7;for=198.51.100.1',
      'for="203.0.113.7',
      'for=2001:db8::1',
      'x'.repeat(9000),
    ])
      expect(await ask(forwarded(value, { body: { identity: 1 } }))).toEqual(ACCEPTED)
    await ban(PROXY, true)
    expect(await ask(forwarded('for=203.0.113.7, garbage'))).toEqual(ACCEPTED)
    await ban(PROXY, false)
  })
})

describe('where a source counts', () => {
  afterEach(() => ban(CLIENT, false))

  test('client_ip of a lease is the one of the latest proof or renewal', async () => {
    const forwarded = { Forwarded: `for=${CLIENT}` }
    const { access_token } = await relay.register('seen')
    const clientIp = () => clientIpOf('seen')
    expect(await clientIp()).toBe(PROXY)
    expect(await relay.call('POST', '/sdk/renew', { access_token }, forwarded)).toMatchObject({ status: 200 })
    expect(await clientIp()).toBe(CLIENT)
  })

  test('budgets: one client that has used up its own leaves the others of its proxy theirs', async () => {
    const spend = (ip: string) => ask({ preface: proxyHeader(PROXY_TCP4, tcp4(ip)), path: '/sdk/register' })
    const answers = []
    do answers.push(await spend('203.0.113.50'))
    while (answers.at(-1)?.status === 400 && answers.length < 300)
    expect(answers.at(-1)).toEqual({ status: 429, error: 'rate_limited' })
    expect(answers.length).toBeGreaterThan(120)
    expect(await spend('203.0.113.51')).toEqual(ACCEPTED)
  })

  test('failed logins: the same, and a /64 is one source', async () => {
    const login = (ip: string) =>
      ask({
        headers: { Forwarded: `for="[${ip}]"` },
        path: '/api/admin/auth/login',
        body: { token: 'guess' },
      })
    for (let i = 0; i < 5; i++)
      expect(await login(`2001:db8:1:2::${i}`)).toEqual({ status: 401, error: 'unauthorized' })
    expect(await login('2001:db8:1:2::5')).toEqual({ status: 429, error: 'rate_limited' })
    expect(await login('2001:db8:1:3::5')).toEqual({ status: 401, error: 'unauthorized' })
  })
})
