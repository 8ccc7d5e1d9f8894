// A site that loses its approval loses its visitors within a second, those of TLS as those of its TCP port.

import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freeRange } from '../../../tools/network/free-port.ts'
import { socketReader, UPGRADE_HEADERS } from '../support/api-socket.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { nativeSession, type TestSession } from '../support/session.ts'

const ADMIN_TOKEN = 'a-long-random-value'
/** Answers that the relay gives one after another in a second on an idle machine: a slow one has longer seconds. */
const ANSWERS_PER_SECOND = 100
const TIMEOUT_MS = 120_000
const SETTINGS = {
  approval_mode: 'auto',
  landing_page_enabled: true,
  udp: { enabled: false, max_leases: 0 },
  tcp_port: { enabled: true, max_leases: 0 },
}

describe.each([1, 2])('with %i processes', (workers) => {
  let relay: TestRelay
  beforeAll(async () => {
    const first = await freeRange(8)
    const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + 7}` }
    relay = await startTestRelay({ TCP_ENABLED: 'true', ADMIN_TOKEN, SVC_WORKERS: `${workers}`, ...range })
  })
  afterAll(() => relay.close(), TIMEOUT_MS)

  const admin = async (path: string, body: object): Promise<void> => {
    const answer = await relay.call('POST', path, body, { Authorization: `Bearer ${ADMIN_TOKEN}` })
    expect(answer.status).toBe(200)
  }

  /** Visitors of a new lease, each bridged to a session: two of TLS, one of the port. */
  async function visitors(name: string): Promise<{
    key: string
    sockets: Socket[]
    open: () => Promise<TestSession>
  }> {
    const { identity, reverse_endpoint, hostname, tcp_addr } = await relay.register(name, {
      tcp_enabled: true,
    })
    const key = `${identity.name}:${identity.address}`
    const open = () => nativeSession(relay, reverse_endpoint.capability, UPGRADE_HEADERS)
    const hello = await captureHello(hostname)
    const sockets: Socket[] = []
    for (const port of [relay.port, relay.port, Number(tcp_addr?.split(':')[1])]) {
      const session = await open()
      session.closed.catch(() => {})
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => {})
      socket.write(hello)
      await session.read(1 + hello.length)
      await session.write(Buffer.from('here'))
      expect(String(await socketReader(socket)(4))).toBe('here')
      sockets.push(socket)
    }
    return { key, sockets, open }
  }

  async function closeWithinASecond(sockets: Socket[]): Promise<void> {
    for (let answers = 0; openOf(sockets).includes(true); answers++) {
      expect(answers).toBeLessThan(ANSWERS_PER_SECOND)
      await relay.call('GET', '/api/healthz').catch(() => {})
    }
    expect(openOf(sockets)).toEqual([false, false, false])
  }

  const openOf = (sockets: Socket[]): boolean[] => sockets.map((socket) => !socket.closed)

  test.each<[string, (key: string) => Promise<void>]>([
    ['revoked', (identity_key) => admin('/api/policy/leases', { identity_key, is_approved: false })],
    [
      'missing in a mode that is set to manual',
      () => admin('/api/policy', { ...SETTINGS, approval_mode: 'manual' }),
    ],
  ])('approval that is %s', async (how, lose) => {
    const name = how.slice(0, 7)
    if (how === 'revoked') await admin('/api/policy', { ...SETTINGS, approval_mode: 'auto' })
    const { key, sockets, open } = await visitors(name)
    const other = await visitors(`${name}-other`)
    if (how === 'revoked') {
      await admin('/api/policy/leases', { identity_key: key, is_approved: true })
      await admin('/api/policy/leases', { identity_key: other.key, is_approved: true })
      await admin('/api/policy', { ...SETTINGS, approval_mode: 'manual' })
    } else await admin('/api/policy/leases', { identity_key: other.key, is_approved: true })
    expect(openOf(sockets)).toEqual([true, true, true])
    await lose(key)
    await closeWithinASecond(sockets)
    expect(openOf(other.sockets)).toEqual([true, true, true])
    // The lease stays: when it is approved again the site only opens its sessions again.
    await admin('/api/policy', SETTINGS)
    const session = await open()
    const visitor = relay.tls(`${name}.relay.localhost`)
    expect([...(await session.read(1))]).toEqual([2])
    for (const socket of [...other.sockets, visitor]) socket.destroy()
  })
})
