// Machines as operators run them: processes that are killed, started again, and refused with a sentence.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { MARKER, type RegisterResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test as every, expect } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freeRange } from '../../../tools/network/free-port.ts'
import { isListening } from '../../../tools/network/is-listening.ts'
import { findHaproxy } from '../../../tools/programs/haproxy.ts'
import type { Machine } from '../../../tools/relay/machine.ts'
import { type Machines, startMachines } from '../../../tools/relay/machines.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { openCarrier } from '../support/carrier.ts'
import { type ClusterRelays, startClusterRelays, whyNoRedis } from '../support/cluster-relays.ts'
import { relayClient, startTestRelay, type TestClient } from '../support/relay.ts'

const test = wholeOnly(every, 'faults')

const PORTS = 4
const why = whyNoRedis() ?? (findHaproxy() === undefined ? 'there is no haproxy' : undefined)

const clientOf = async ({ port, caFile }: Machine): Promise<TestClient> =>
  relayClient(port, await readFile(caFile, 'utf8'))

/** Has one visitor of the site served, with the given byte. */
async function serveOnce(relay: TestClient, { reverse_endpoint }: RegisterResponse): Promise<void> {
  const carrier = await openCarrier(relay, reverse_endpoint.capability)
  const { stream, read } = await carrier.open(reverse_endpoint.capability)
  expect((await read(1))[0]).toBe(0)
  const served = async (): Promise<void> => {
    let marker = await read(1)
    while (marker[0] === MARKER.keepalive) marker = await read(1)
    await read(17)
    await stream.write(Buffer.of(0x2a))
  }
  served().catch(() => {})
}

async function visit(relay: TestClient, { hostname }: RegisterResponse): Promise<number | undefined> {
  const visitor = await relay.tcp()
  visitor.write(await captureHello(hostname))
  const [bytes] = await Promise.race([once(visitor, 'data'), once(visitor, 'close').then(() => [])])
  visitor.destroy()
  return bytes?.[0]
}

describe.skipIf(why !== undefined)(`three machines behind a balancer (skipped: ${why})`, () => {
  let relay: Machines
  let balanced: TestClient
  let clients: TestClient[]
  beforeAll(async () => {
    const first = await Promise.all(Array.from({ length: 3 }, () => freeRange(PORTS)))
    relay = await startMachines({
      count: 3,
      checkIntervalMs: 500,
      env: (index) => ({
        TCP_ENABLED: 'true',
        MIN_PORT: `${first[index]}`,
        MAX_PORT: `${first[index]! + PORTS - 1}`,
        PORT_HOST: `machine-${index}.relay.localhost`,
        // One of them runs two processes.
        SVC_WORKERS: index === 1 ? '2' : '1',
      }),
    })
    clients = await Promise.all(relay.machines.map(clientOf))
    balanced = relayClient(Number(new URL(relay.url).port), await readFile(relay.caFile, 'utf8'))
  })
  afterAll(() => relay?.stop())

  test('a site of a machine with two processes serves the visitors of all, and the other way round', async () => {
    for (const [from, to] of [
      [1, 0],
      [0, 1],
      [1, 1],
      [2, 1],
    ] as const) {
      const lease = await clients[from]!.register(`pair-${from}-${to}`)
      await serveOnce(clients[from]!, lease)
      expect(await visit(clients[to]!, lease), `${from} to ${to}`).toBe(0x2a)
    }
  })

  test('a machine that is killed takes no name with it: its site is online elsewhere', async () => {
    const lease = await clients[0]!.register('survivor', { tcp_enabled: true })
    await serveOnce(clients[0]!, lease)
    await relay.machines[0]!.kill('SIGKILL')
    // As an SDK does: its carrier is gone, so it comes back through the balancer.
    await expect.poll(() => serveOnce(balanced, lease).then(() => true, String)).toBe(true)
    expect(await visit(balanced, lease)).toBe(0x2a)
    const { access_token } = lease
    for (const client of clients.slice(1))
      expect((await client.call('POST', '/sdk/renew', { access_token })).status).toBe(200)
    await relay.machines[0]!.restart()
    // It knows all of it again, and its ports are open at their numbers.
    expect((await clients[0]!.call('POST', '/sdk/renew', { access_token })).status).toBe(200)
    await expect.poll(() => isListening(Number(lease.tcp_addr!.split(':')[1]))).toBe(true)
    await serveOnce(clients[2]!, lease)
    await expect.poll(() => visit(clients[0]!, lease)).toBe(0x2a)
  })

  test('a machine that was away learns what ended meanwhile', async () => {
    const [ends, stays] = [await clients[2]!.register('ends'), await clients[2]!.register('stays')]
    await relay.machines[2]!.kill('SIGKILL')
    await clients[1]!.call('POST', '/sdk/unregister', { access_token: ends.access_token })
    const more = await clients[1]!.register('more')
    await relay.machines[2]!.restart()
    const statuses = await Promise.all(
      [ends, stays, more].map(
        async ({ access_token }) => (await clients[2]!.call('POST', '/sdk/reverse', { access_token })).status,
      ),
    )
    expect(statuses).toEqual([404, 200, 200])
  })
})

describe.skipIf(whyNoRedis() !== undefined)(`a machine does not start (skipped: ${whyNoRedis()})`, () => {
  let cluster: ClusterRelays
  beforeEach(async () => {
    cluster = await startClusterRelays(1)
  })
  afterEach(() => cluster?.close())

  test('with another secret than the others', async () => {
    const CLUSTER_SECRET = randomBytes(32).toString('hex')
    const failure = await cluster.add({ CLUSTER_SECRET }).catch(String)
    expect(failure).toBe('SettingsError: CLUSTER_SECRET: is another one than that of the other machines')
  })

  test('with another identity than the others', async () => {
    const other = await startTestRelay()
    await other.stop()
    const failure = await startTestRelay(
      { ...(await cluster.settings()), CLUSTER_ADDR: '127.0.0.1:1' },
      { directory: other.directory },
    ).catch(String)
    expect(failure).toMatch(
      /^SettingsError: .*identity\.json: is another identity than that of the other machines: move it away/,
    )
    await rm(other.directory, { recursive: true })
  })

  test('with the port of another program for its CLUSTER_ADDR', async () => {
    const { port } = new URL(cluster.redis.url)
    const failure = await cluster.add({ CLUSTER_LISTEN_PORT: port }).catch(String)
    expect(failure).toMatch(/^SettingsError: CLUSTER_ADDR: .*EADDRINUSE/)
  })

  test('with a wrong password of Redis, which no sentence shows', async () => {
    const CLUSTER_URL = cluster.redis.url.replace(/:[^:@]+@/, ':a-wrong-password@')
    const failure = await cluster.add({ CLUSTER_URL }).catch(String)
    expect(failure).toMatch(/^SettingsError: CLUSTER_URL: /)
    expect(failure).not.toMatch(/wrong-password/)
  })
})
