// `GET /sdk/connect` of a native client: the answer byte for byte, and every refusal before the upgrade.

import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { apiSocket, connectRequest, readHead, socketReader, UPGRADE_HEADERS } from '../support/api-socket.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'
import { nativeSession } from '../support/session.ts'

const ADMIN_TOKEN = 'a-long-random-value'

let capability: string
let token: string
const relay = useStarted(() => startTestRelay({ ADMIN_TOKEN }))
beforeAll(async () => {
  const lease = await relay.register('native')
  capability = lease.reverse_endpoint.capability
  token = lease.access_token
})

/** All that the relay says to `request`, which it closes the connection behind. */
async function answerTo(request: string): Promise<{ status: number; head: string; body: string }> {
  const socket = await apiSocket(relay)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = once(socket, 'end')
  socket.write(request)
  await ended
  socket.destroy()
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body }
}

async function refusal(request: string): Promise<[number, string]> {
  const { status, head, body } = await answerTo(request)
  expect(head).toMatch(/^content-type: application\/json$/im)
  const { ok, error } = JSON.parse(body)
  expect(ok).toBe(false)
  return [status, error.code]
}

describe('the upgrade', () => {
  test.each([
    ['with', 'the upgrade headers', UPGRADE_HEADERS],
    ['without', 'them', []],
    ['cases', 'of other letters', ['connection: keep-alive, UPGRADE', 'upgrade: RAW']],
  ])(
    '%s %s is answered with 101 and both headers, then with bytes of the session only',
    async (name, _what, headers) => {
      const { hostname, reverse_endpoint } = await relay.register(name)
      const socket = await apiSocket(relay)
      const read = socketReader(socket)
      socket.write(connectRequest(reverse_endpoint.capability, headers))
      expect(await readHead(read)).toBe(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n',
      )
      relay.tls(hostname)
      expect(await read(1)).toEqual(Buffer.of(2))
      socket.destroy()
    },
  )

  test('to yamux is answered with 101 and both headers, and then speaks yamux (protocol §7.1.3, §7.3.1)', async () => {
    const socket = await apiSocket(relay)
    const read = socketReader(socket)
    socket.write(connectRequest(capability, ['Connection: Upgrade', 'Upgrade: YAMUX']))
    expect(await readHead(read)).toBe(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: yamux\r\n\r\n',
    )
    // A ping with its answer: version, type, flags, stream 0, the number.
    socket.write(Buffer.from('000200010000000000000007', 'hex'))
    expect((await read(12)).toString('hex')).toBe('000200020000000000000007')
    socket.destroy()
  })

  test('to yamux ends when the client ends its direction (protocol §7.3.2)', async () => {
    const socket = await apiSocket(relay)
    const read = socketReader(socket)
    socket.write(connectRequest(capability, ['Connection: Upgrade', 'Upgrade: yamux']))
    expect(await readHead(read)).toMatch(/^HTTP\/1\.1 101 /)
    socket.end()
    expect(await read(1)).toHaveLength(0)
  })

  test('may follow other requests on the same connection', async () => {
    const socket = await apiSocket(relay)
    const read = socketReader(socket)
    socket.write('GET /api/healthz HTTP/1.1\r\nHost: relay.localhost\r\n\r\n')
    const head = await readHead(read)
    await read(Number(/content-length: (\d+)/i.exec(head)?.[1]))
    socket.write(connectRequest(capability, []))
    expect(await readHead(read)).toMatch(/^HTTP\/1\.1 101 /)
    socket.destroy()
  })

  test.each<[string, () => string, [number, string]]>([
    ['a lease token', () => connectRequest(token, []), [403, 'unauthorized']],
    ['a made-up capability', () => connectRequest('a.b.c', UPGRADE_HEADERS), [403, 'unauthorized']],
    ['an empty capability', () => connectRequest('', UPGRADE_HEADERS), [403, 'unauthorized']],
    ['two capabilities', () => connectRequest(`${capability}, ${capability}`, []), [403, 'unauthorized']],
    [
      'another protocol',
      () => connectRequest(capability, ['Connection: Upgrade', 'Upgrade: h2c']),
      [400, 'invalid_request'],
    ],
    [
      'the upgrade headers alone',
      () => connectRequest('', UPGRADE_HEADERS).replace(/X-Svc.*\r\n/, ''),
      [403, 'unauthorized'],
    ],
    ['HTTP/1.0', () => connectRequest(capability, [], '1.0'), [505, 'http11_only']],
    [
      'HTTP/1.0 with the upgrade headers',
      () => connectRequest(capability, UPGRADE_HEADERS, '1.0'),
      [505, 'http11_only'],
    ],
    ['HTTP/1.0 with nothing', () => 'GET /sdk/connect HTTP/1.0\r\n\r\n', [505, 'http11_only']],
    ['HTTP/2.0 in the request line', () => connectRequest(capability, [], '2.0'), [505, 'http11_only']],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [505, 'http11_only']],
    [
      'bytes behind the request',
      () => `${connectRequest(capability, UPGRADE_HEADERS)}early`,
      [400, 'invalid_request'],
    ],
    [
      'bytes behind a request for yamux',
      () => `${connectRequest(capability, ['Connection: Upgrade', 'Upgrade: yamux'])}early`,
      [400, 'invalid_request'],
    ],
    [
      'a made-up capability for yamux',
      () => connectRequest('a.b.c', ['Connection: Upgrade', 'Upgrade: yamux']),
      [403, 'unauthorized'],
    ],
    [
      'a WebSocket without a key',
      () =>
        connectRequest(capability, [
          'Connection: Upgrade',
          'Upgrade: websocket',
          `Sec-WebSocket-Protocol: svc.reverse.v1, ${capability}`,
        ]),
      [400, 'invalid_request'],
    ],
    [
      'an earlier answer that is still owed',
      () =>
        `POST /sdk/renew HTTP/1.1\r\nHost: relay.localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}${connectRequest(capability, UPGRADE_HEADERS)}`,
      [500, 'hijack_unsupported'],
    ],
  ])(
    '%s is refused within the envelope (protocol §2.1.3, §7.1.1, §7.1.2, §7.1.4)',
    async (_name, request, expected) => {
      expect(await refusal(request())).toEqual(expected)
    },
  )

  test('a folded header, or one with a bare CR, is malformed', async () => {
    for (const value of ['a\r\n b', 'a\rb', 'a\0b'])
      expect((await answerTo(connectRequest(value, []))).status).toBe(400)
  })

  test('other methods are told which one it is', async () => {
    const request = connectRequest(capability, [...UPGRADE_HEADERS, 'Content-Length: 0', 'Connection: close'])
    const { status, head } = await answerTo(request.replace('GET', 'POST'))
    expect(status).toBe(405)
    expect(head).toMatch(/^allow: GET$/im)
  })

  test.each([
    ['raw', 'Content-Length: 1', 'x'],
    ['raw', 'Content-Length: 1', ''],
    ['raw', 'Transfer-Encoding: chunked', '0\r\n\r\n'],
    ['yamux', 'Content-Length: 5', 'hello'],
    ['websocket', 'Transfer-Encoding: chunked', '1\r\nx\r\n0\r\n\r\n'],
  ])('a body has no place in an upgrade to %s: %s (protocol §7.1.1)', async (protocol, framing, body) => {
    const fields =
      protocol === 'websocket'
        ? [
            'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
            'Sec-WebSocket-Version: 13',
            `Sec-WebSocket-Protocol: svc.reverse.v1, ${capability}`,
          ]
        : []
    const upgrade = ['Connection: Upgrade', `Upgrade: ${protocol}`, framing, ...fields]
    const request = `${connectRequest(capability, upgrade)}${body}`
    expect(await refusal(request)).toEqual([400, 'invalid_request'])
  })

  test('an empty body is none', async () => {
    const socket = await apiSocket(relay)
    const read = socketReader(socket)
    socket.write(connectRequest(capability, [...UPGRADE_HEADERS, 'Content-Length: 0']))
    expect(await readHead(read)).toMatch(/^HTTP\/1\.1 101 /)
    socket.destroy()
  })

  test('an upgrade elsewhere is not taken up', async () => {
    for (const Upgrade of ['h2c', 'websocket', 'raw'])
      for (const [path, status] of [
        ['/api/healthz', 200],
        ['/sdk/domain', 200],
        ['/sdk/renew', 405],
        ['/nothing', 404],
      ] as const)
        expect(await relay.call('GET', path, undefined, { Connection: 'Upgrade', Upgrade })).toMatchObject({
          status,
        })
  })

  test('8 ready sessions: one more gets 429 with Retry-After; one that leaves makes room (protocol §7.5.1)', async () => {
    const { reverse_endpoint } = await relay.register('full')
    const sessions = []
    for (let i = 0; i < 8; i++)
      sessions.push(await nativeSession(relay, reverse_endpoint.capability, UPGRADE_HEADERS))
    const { status, head, body } = await answerTo(connectRequest(reverse_endpoint.capability, []))
    expect([status, JSON.parse(body).error.code]).toEqual([429, 'rate_limited'])
    expect(head).toMatch(/^retry-after: \d+$/im)
    sessions[0]?.abort()
    await expect
      .poll(() =>
        nativeSession(relay, reverse_endpoint.capability, []).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
  })

  test('a lease that is denied is rejected; a banned address gets ip_banned (protocol §7.1.2)', async () => {
    const account = newAccount()
    const lease = await relay.register('denied', { account })
    const admin = { Authorization: `Bearer ${ADMIN_TOKEN}` }
    const identity_key = `denied:${account.address.toLowerCase()}`
    await relay.call('POST', '/api/policy/leases', { identity_key, is_denied: true }, admin)
    expect(await refusal(connectRequest(lease.reverse_endpoint.capability, []))).toEqual([
      403,
      'lease_rejected',
    ])
    const banned = (is_banned: boolean) =>
      relay.call('POST', '/api/policy/ips', { ip: '127.0.0.1', is_banned }, admin)
    await banned(true)
    expect(await refusal(connectRequest(capability, []))).toEqual([403, 'ip_banned'])
    await banned(false)
  })
})
