// The traffic that a real relay counts of real connections, for its administrators alone.

import { connect } from 'node:net'
import type { AdminLoadResponse, LeaseTraffic, PolicyStateResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freeRange } from '../../../tools/network/free-port.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { socketReader, UPGRADE_HEADERS } from '../support/api-socket.ts'
import {
  ADMIN,
  ADMIN_TOKEN,
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { startTestRelay, type TestClient, type TestRelay } from '../support/relay.ts'
import { nativeSession } from '../support/session.ts'

const SENT = Buffer.alloc(300_000, 'a')
const RECEIVED = Buffer.alloc(50_000, 'b')

async function trafficOf(relay: TestClient, name: string): Promise<LeaseTraffic | undefined> {
  const { data } = (await relay.call('GET', '/api/policy/state', undefined, ADMIN)).json
  return (data as unknown as PolicyStateResponse).leases.find((lease) => lease.name === name)?.traffic
}

/** A visitor from an address, bridged to a session, to whom the site sends {@link SENT}, and who sends {@link RECEIVED}. @returns what ends both */
async function visit({
  capability,
  hello,
  port,
  at,
  from,
}: {
  capability: string
  hello: Buffer
  port: number
  at: TestClient
  from: string
}): Promise<() => void> {
  const session = await nativeSession(at, capability, UPGRADE_HEADERS)
  session.closed.catch(() => {})
  const visitor = connect({ host: '127.0.0.1', port, localAddress: from })
  visitor.on('error', () => {})
  visitor.write(hello)
  await session.read(1 + hello.length)
  await session.write(SENT)
  await socketReader(visitor)(SENT.length)
  visitor.write(RECEIVED)
  await session.read(RECEIVED.length)
  return () => {
    session.abort()
    visitor.destroy()
  }
}

describe.each(atDepth([1, 2], [2]))('with %i processes', (workers) => {
  let relay: TestRelay
  beforeAll(async () => {
    const first = await freeRange(4)
    const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + 3}` }
    relay = await startTestRelay({ TCP_ENABLED: 'true', ADMIN_TOKEN, SVC_WORKERS: `${workers}`, ...range })
  })
  afterAll(() => relay.close())

  test('protocol §20.2.12: every byte of visitors is in the traffic of their lease, to the byte', async () => {
    const { reverse_endpoint, hostname, tcp_addr } = await relay.register('busy', { tcp_enabled: true })
    await relay.register('idle')
    const { capability } = reverse_endpoint
    const hello = await captureHello(hostname)
    const tls = { capability, hello, port: relay.port, at: relay }
    const visitors = [
      await visit({ ...tls, from: '127.0.0.1' }),
      await visit({ ...tls, from: '127.0.0.2' }),
      await visit({ ...tls, from: '127.0.0.2' }),
      await visit({ ...tls, port: Number(tcp_addr?.split(':')[1]), from: '127.0.0.3' }),
    ]
    const sums = {
      received_bytes: 4 * (hello.length + RECEIVED.length),
      sent_bytes: 4 * SENT.length,
      connections: 4,
      visitors: 3,
    }
    await expect
      .poll(() => trafficOf(relay, 'busy'), { timeout: 30_000 })
      .toMatchObject({ open_connections: 4, day: sums })
    const { received_bps = 0, sent_bps = 0 } = (await trafficOf(relay, 'busy')) ?? {}
    expect(sent_bps).toBeGreaterThanOrEqual(received_bps)
    for (const leave of visitors) leave()
    await expect
      .poll(() => trafficOf(relay, 'busy'), { timeout: 30_000 })
      .toMatchObject({ open_connections: 0, day: sums })
    expect(await trafficOf(relay, 'idle')).toBeUndefined()
    const load = (await relay.call('GET', '/api/admin/load', undefined, ADMIN)).json
      .data as unknown as AdminLoadResponse
    expect(load.traffic).toMatchObject({ open_connections: 0, day: sums })
    expect(load.traffic?.hours).toHaveLength(24)
    expect((await relay.call('GET', '/api/state')).text).not.toMatch(/traffic|visitors|bytes/)
  })
})

describe.skipIf(whyNoRedis() !== undefined)(`three machines (skipped: ${whyNoRedis()})`, () => {
  let cluster: ClusterRelays
  beforeAll(async () => {
    cluster = await startClusterRelays(3, {})
  })
  afterAll(() => cluster?.close())

  test('protocol §20.2.12: each of several machines has the sum of all', async () => {
    const [a, b] = cluster.relays as [ClusterRelay, ClusterRelay]
    const { reverse_endpoint, hostname } = await a.register('wide')
    const hello = await captureHello(hostname)
    const { capability } = reverse_endpoint
    const visitors = [
      await visit({ capability, hello, port: a.port, at: a, from: '127.0.0.1' }),
      // Comes in at one machine, while another one has the session.
      await visit({ capability, hello, port: b.port, at: a, from: '127.0.0.2' }),
    ]
    const sums = {
      received_bytes: 2 * (hello.length + RECEIVED.length),
      sent_bytes: 2 * SENT.length,
      connections: 2,
      visitors: 2,
    }
    for (const relay of cluster.relays)
      await expect
        .poll(() => trafficOf(relay, 'wide'), { timeout: 30_000 })
        .toMatchObject({ open_connections: 2, day: sums })
    for (const leave of visitors) leave()
    for (const relay of cluster.relays)
      await expect
        .poll(() => trafficOf(relay, 'wide'), { timeout: 30_000 })
        .toMatchObject({ open_connections: 0, day: sums })
  })
})
