// Tests that a flood of connections costs its own network connections, and no other.

import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import {
  connectionCapacity,
  DESCRIPTORS_RESERVED,
  openFilesMax,
} from '../../src/core/config/connection-capacity.ts'
import {
  ConnectionLimiter,
  type ConnectionLimiterOptions,
} from '../../src/core/ingress/connection-limiter.ts'
import { OverloadMonitor } from '../../src/core/ingress/overload-monitor.ts'
import { createSniListener } from '../../src/core/ingress/sni-listener.ts'
import { ROOT_ROUTE } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import type { Refusal } from '../../src/core/metrics/labels.ts'
import { parseExposition } from '../support/exposition.ts'
import { freePort, startTestRelay } from '../support/relay.ts'

const CONNECTIONS_MAX = 12
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** A listener that takes few connections, and whose root host keeps them open. */
async function newListener(
  options: Partial<ConnectionLimiterOptions> & { source?: (socket: Socket) => string | undefined } = {},
) {
  const refusals: Refusal[] = []
  const connectionLimiter = new ConnectionLimiter({
    isOverloaded: () => false,
    onRefuse: (reason) => refusals.push(reason),
    max: { all: CONNECTIONS_MAX, perNetwork: 5, silent: 8, silentPerNetwork: 3 },
    ...options,
  })
  const source = options.source ?? (({ remoteAddress }: Socket) => remoteAddress?.replace('::ffff:', ''))
  const listener = createSniListener({
    clientAddresses: { admit: async () => true, ofSocket: source },
    connectionLimiter,
    routes: { resolve: () => ROOT_ROUTE },
    policy: { routes: () => true },
    serveRoot: (socket) => void socket.resume().write('welcome'),
    visitors: { accept: async () => {} },
    connectionsMax: CONNECTIONS_MAX,
    log: createLog('silent'),
  })
  listener.on('drop', () => refusals.push('full'))
  listener.listen()
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const open: Socket[] = []
  /** Connects from a network of its own of the loopback addresses. */
  const from = async (host: number): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.${host}.1` })
    open.push(socket)
    socket.on('error', () => {})
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {})
    await sleep(5)
    return socket
  }
  cleanups.push(() => {
    for (const socket of open) socket.destroy()
    listener.close()
  })
  return { connectionLimiter, refusals, from, hello: await captureHello('relay.localhost') }
}

const isWelcome = async (socket: Socket, hello: Buffer): Promise<boolean> => {
  if (socket.closed) return false
  socket.write(hello)
  return await Promise.race([
    once(socket, 'data').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false)
}

describe('connections that say nothing', () => {
  test('of one source: one more than it may have is reset, and other sources come in', async () => {
    const { connectionLimiter, refusals, from, hello } = await newListener()
    const silent = [await from(2), await from(2), await from(2)]
    const refused = await from(2)
    await expect.poll(() => refused.closed).toBe(true)
    expect(refusals).toEqual(['network'])
    expect(await isWelcome(await from(3), hello)).toBe(true)
    // One that speaks makes room.
    expect(await isWelcome(silent[0] as Socket, hello)).toBe(true)
    expect(await isWelcome(await from(2), hello)).toBe(true)
    expect(connectionLimiter.silent).toBe(2)
  })

  test('of many sources: the oldest makes room for one that has something to say', async () => {
    const { connectionLimiter, refusals, from, hello } = await newListener()
    const silent: Socket[] = []
    for (let host = 2; host <= 9; host++) silent.push(await from(host))
    expect(await isWelcome(await from(10), hello)).toBe(true)
    const [oldest, ...others] = silent
    await expect.poll(() => oldest?.closed).toBe(true)
    expect(others.filter(({ closed }) => closed)).toEqual([])
    expect([refusals, connectionLimiter.silent]).toEqual([['silent'], 7])
  })

  test('who leaves makes room', async () => {
    const { connectionLimiter, from, hello } = await newListener()
    for (let i = 0; i < 3; i++) (await from(2)).destroy()
    await expect.poll(() => connectionLimiter.silent).toBe(0)
    expect(await isWelcome(await from(2), hello)).toBe(true)
  })

  test('a relay resets the 1,025th of one source, counts it and keeps the others', async () => {
    const metricsPort = await freePort()
    const relay = await startTestRelay({ METRICS_ADDR: `${metricsPort}` })
    const sockets: Socket[] = []
    cleanups.push(async () => {
      for (const socket of sockets) socket.destroy()
      await relay.close()
    })
    for (let i = 0; i < 1024; i++) sockets.push(await relay.tcp())
    const refused = await relay.tcp().catch(() => undefined)
    if (refused) await expect.poll(() => refused.closed).toBe(true)
    expect(sockets.filter(({ closed }) => closed)).toHaveLength(0)
    const metrics = parseExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
    const samples = metrics.get('svc_relay_connections_refused_total')?.samples
    expect(samples).toEqual(new Map([['svc_relay_connections_refused_total{reason="network"}', 1]]))
    expect(metrics.get('svc_relay_silent_connections')?.samples.get('svc_relay_silent_connections')).toBe(
      1024,
    )
  })
})

describe('all connections', () => {
  test('of one source: one more than it may have is reset', async () => {
    const { refusals, from, hello } = await newListener()
    for (let i = 0; i < 5; i++) expect(await isWelcome(await from(2), hello)).toBe(true)
    expect(await isWelcome(await from(2), hello)).toBe(false)
    expect(await isWelcome(await from(3), hello)).toBe(true)
    expect(refusals).toEqual(['network'])
  })

  test('a trusted proxy is not one source', async () => {
    const { refusals, from, hello } = await newListener({ source: () => undefined })
    for (let i = 0; i < 7; i++) expect(await isWelcome(await from(2), hello)).toBe(true)
    expect(refusals).toEqual([])
  })

  test('together: one more is closed', async () => {
    const { refusals, from, hello } = await newListener()
    for (let host = 2; host < 2 + CONNECTIONS_MAX; host++)
      expect(await isWelcome(await from(host), hello)).toBe(true)
    expect(await isWelcome(await from(20), hello)).toBe(false)
    expect(refusals).toEqual(['full'])
  })
})

describe('strain', () => {
  test('newcomers are reset while it lasts, those who are here stay', async () => {
    let isStrained = false
    const { refusals, from, hello } = await newListener({ isOverloaded: () => isStrained })
    const here = await from(2)
    isStrained = true
    expect(await isWelcome(await from(3), hello)).toBe(false)
    expect(await isWelcome(here, hello)).toBe(true)
    isStrained = false
    expect(await isWelcome(await from(3), hello)).toBe(true)
    expect(refusals).toEqual(['overload'])
  })

  test('a process whose work makes its timers late is strained, until they are not', async () => {
    vi.restoreAllMocks()
    const overload = new OverloadMonitor()
    cleanups.push(() => overload.close())
    work(450)
    await sleep(150)
    // One long turn is none.
    expect(overload.isOverloaded).toBe(false)
    for (let turn = 0; turn < 20 && !overload.isOverloaded; turn++) {
      work(450)
      await sleep(1)
    }
    expect(overload.isOverloaded).toBe(true)
    await expect.poll(() => overload.isOverloaded).toBe(false)
  })

  test('a process that others keep from the processor is not', async () => {
    vi.restoreAllMocks()
    const overload = new OverloadMonitor()
    cleanups.push(() => overload.close())
    for (let i = 0; i < 4; i++) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
      await sleep(1)
    }
    expect(overload.isOverloaded).toBe(false)
  })
})

/** Keeps this thread busy for that processor time. */
function work(ms: number): void {
  const start = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(start)
    if (user + system > 1000 * ms) return
  }
}

const ALONE = { hasTcpPorts: false, hasOverlay: false }

describe('what the process can hold', () => {
  test('all that the limits say, when it may open as many files', () => {
    expect(connectionCapacity(100_000, { hasTcpPorts: true, hasOverlay: true })).toEqual({
      connections: 16_384,
      portConnections: 16_384,
      overlayConnections: 8192,
    })
    expect(connectionCapacity(Number.POSITIVE_INFINITY, ALONE)).toEqual({
      connections: 16_384,
      portConnections: 0,
      overlayConnections: 0,
    })
  })

  test('else what it may open, shared by its listeners', () => {
    expect(connectionCapacity(1024, { hasTcpPorts: true, hasOverlay: false })).toMatchObject({
      connections: 384,
      portConnections: 384,
    })
    expect(connectionCapacity(1024, ALONE)).toMatchObject({ connections: 768, portConnections: 0 })
    expect(() => connectionCapacity(256, ALONE)).toThrow(/open files: a limit of 256 is too low/)
  })

  test('connections of relays, in both directions, take no descriptor of visitors', () => {
    const { connections, overlayConnections } = connectionCapacity(4096, {
      hasTcpPorts: false,
      hasOverlay: true,
    })
    expect([connections, overlayConnections]).toEqual([1920, 960])
    expect(connections + 2 * overlayConnections + DESCRIPTORS_RESERVED).toBeLessThanOrEqual(4096)
  })

  test('which it asks the system for', () => {
    expect(openFilesMax()).toBeGreaterThan(256)
  })
})
