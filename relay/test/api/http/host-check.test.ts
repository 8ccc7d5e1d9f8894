// Whom a request is for: RFC 9112 §3.2, RFC 9110 §7.4.

import { expect, test } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { apiSocket } from '../../support/api-socket.ts'
import { ROOT_HOST, readAll, startTestRelay, type TestRelay } from '../../support/relay.ts'

const relay = useStarted(startTestRelay)
const proxied = useStarted(() => startTestRelay({ TRUSTED_PROXIES: '127.0.0.1' }))

async function statusOf(to: TestRelay, target: string, lines: string[]): Promise<number> {
  const socket = await apiSocket(to)
  const answer = readAll(socket)
  socket.once('end', () => socket.end())
  socket.write(`${[`GET ${target}`, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  return Number(/^HTTP\/1\.1 (\d+)/.exec(`${await answer}`)?.[1])
}

const UPGRADE = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${'A'.repeat(22)}==`]

test.each<[string, string[], number]>([
  ['the root host', [`Host: ${ROOT_HOST}`], 200],
  ['in capitals, with a dot', ['Host: RELAY.localhost.'], 200],
  ['with another port', [`Host: ${ROOT_HOST}:1`], 421],
  ['no Host', [], 400],
  ['an empty one', ['Host:'], 400],
  ['two', [`Host: ${ROOT_HOST}`, `Host: ${ROOT_HOST}`], 400],
  ['two that differ', [`Host: ${ROOT_HOST}`, 'Host: other.example'], 400],
  ['no name', ['Host: :443'], 400],
  ['a foreign one', ['Host: other.example'], 421],
  ['that of a site', [`Host: demo.${ROOT_HOST}`], 421],
  ['localhost', ['Host: localhost'], 421],
])('%s', async (_what, lines, status) => {
  expect(await statusOf(relay, '/api/healthz HTTP/1.1', lines)).toBe(status)
  expect(await statusOf(relay, '/nothing HTTP/1.1', lines)).toBe(status === 200 ? 404 : status)
  // Without a capability the right host is refused, too, but for that.
  expect(await statusOf(relay, '/sdk/connect HTTP/1.1', [...lines, ...UPGRADE])).toBe(
    status === 200 ? 403 : status,
  )
})

test.each(['127.0.0.1', '127.0.0.1:1', '[::1]', '[::1]:8443'])(
  'an address, as health checks name it, leads to pages and the health alone: %s',
  async (address) => {
    const lines = [`Host: ${address}`]
    expect(await statusOf(relay, '/api/healthz HTTP/1.1', lines)).toBe(200)
    expect(await statusOf(relay, '/nothing HTTP/1.1', lines)).toBe(404)
    for (const path of ['/sdk/domain', '/api/state'])
      expect(await statusOf(relay, `${path} HTTP/1.1`, lines)).toBe(421)
    expect(await statusOf(relay, '/sdk/connect HTTP/1.1', [...lines, ...UPGRADE])).toBe(421)
    expect(await statusOf(relay, '/api/healthz HTTP/1.1', [...lines, ...lines])).toBe(400)
  },
)

test('the relay’s own port, as its URL has it (protocol §2.1.4)', async () => {
  const lines = [`Host: ${ROOT_HOST}:${relay.port}`]
  expect(await statusOf(relay, '/api/healthz HTTP/1.1', lines)).toBe(200)
})

test('HTTP/1.0 needs no Host (protocol §2.1.4)', async () => {
  expect(await statusOf(relay, '/api/healthz HTTP/1.0', [])).toBe(200)
})

test('a trusted proxy may say another name, but only one', async () => {
  expect(await statusOf(proxied, '/api/healthz HTTP/1.1', ['Host: upstream.internal:8443'])).toBe(200)
  expect(await statusOf(proxied, '/api/healthz HTTP/1.1', ['Host: a', 'Host: b'])).toBe(400)
})
