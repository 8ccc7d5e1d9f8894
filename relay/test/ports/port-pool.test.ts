// Tests that an identity gets its own port again, and never one that is reserved for another identity.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { now } from '../../src/core/clock.ts'
import { createLog } from '../../src/core/log/log.ts'
import { DedicatedPorts, restorePorts } from '../../src/features/ports/dedicated-ports.ts'
import { PortAllocator, type PortAllocatorOptions } from '../../src/features/ports/port-allocator.ts'
import { PortPool } from '../../src/features/ports/port-pool.ts'
import { TcpPorts } from '../../src/features/ports/tcp-port.ts'
import { leaseNamed } from '../support/lease.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const RESERVED_MS = 5 * 60_000

describe('PortPool', () => {
  const first = (pool: PortPool, key: string) => pool.free(key).next().value
  const take = (pool: PortPool, key: string) => {
    const port = first(pool, key)
    if (port !== undefined) pool.hold(key, port)
    return port
  }

  test('gives out each port of the range once, both ends included, and then none', () => {
    const pool = new PortPool({ min: 100, max: 102 })
    expect(['a', 'b', 'c', 'd'].map((key) => take(pool, key))).toEqual([100, 101, 102, undefined])
  })

  test('a lost port stays reserved 5 minutes for its identity (protocol §4.4.8)', () => {
    const pool = new PortPool({ min: 100, max: 100 })
    take(pool, 'a')
    pool.release('a')
    vi.advanceTimersByTime(RESERVED_MS - 1)
    expect(take(pool, 'b')).toBeUndefined()
    expect(first(pool, 'a')).toBe(100)
    vi.advanceTimersByTime(1)
    expect(take(pool, 'b')).toBe(100)
    expect(first(pool, 'a')).toBeUndefined()
  })

  test('after that it is sticky while it is free: others get unused ports, then those given up first (protocol §4.4.8)', () => {
    const pool = new PortPool({ min: 100, max: 103 })
    for (const key of ['a', 'b', 'c']) take(pool, key)
    for (const key of ['b', 'a', 'c']) pool.release(key)
    vi.advanceTimersByTime(RESERVED_MS)
    expect(['d', 'e'].map((key) => take(pool, key))).toEqual([103, 101])
    expect(take(pool, 'c')).toBe(102)
    expect(take(pool, 'b')).toBe(100)
  })

  test("never gives out the relay's own port, nor for a minute one that another process has", () => {
    const pool = new PortPool({ min: 100, max: 102 }, [100])
    pool.markInUse(101)
    expect([...pool.free('a')]).toEqual([102])
    vi.advanceTimersByTime(60_000)
    expect([...pool.free('a')]).toEqual([101, 102])
  })

  test('keeps what was reserved before, but not outside the range, and not twice', () => {
    const pool = new PortPool({ min: 100, max: 101 })
    pool.restore('a', 101, now() + 1000)
    pool.restore('b', 101, now() + 1000)
    pool.restore('c', 7, now() + 1000)
    expect([...pool.free('b')]).toEqual([100])
    expect([...pool.free('a')]).toEqual([101, 100])
    expect([...pool.free('c')]).toEqual([100])
  })

  test('the whole range of ports costs no more than itself', () => {
    const pool = new PortPool({ min: 1, max: 65_535 })
    for (let i = 1; i <= 65_535; i++) pool.hold(`key ${i}`, i)
    expect([...pool.free('one more')]).toEqual([])
  })
})

describe('PortPlane', () => {
  function setup(fields: Partial<PortAllocatorOptions> = {}) {
    const bound = new Set<number>()
    const plane = new PortAllocator({
      pool: new PortPool({ min: 100, max: 299 }),
      settings: () => ({ enabled: true, max_leases: 0 }),
      hasRoom: () => true,
      routes: () => true,
      bind: async (port) => {
        bound.add(port)
        return { close: () => bound.delete(port) }
      },
      transport: 'udp',
      log: createLog('silent'),
      ...fields,
    })
    return { plane, bound }
  }

  test('64 ports of other processes are tried for one lease, then none is free; the next goes on behind them', async () => {
    let attempts = 0
    const { plane } = setup({
      bind: async (port) => {
        attempts += 1
        if (port < 170) throw new Error('in use')
        return { close: () => {} }
      },
    })
    await expect(plane.claim('a')).rejects.toMatchObject({ code: 'udp_port_exhausted' })
    expect(attempts).toBe(64)
    expect((await plane.claim('a')).port).toBe(170)
  })

  test('claims of one identity share one port, which closes with the last of them', async () => {
    const { plane, bound } = setup()
    const [first, second] = await Promise.all([plane.claim('a'), plane.claim('a')])
    expect(second.port).toBe(first.port)
    first.serve(leaseNamed('a'))
    first.release()
    expect(bound.size).toBe(1)
    second.release()
    expect(bound.size).toBe(0)
  })

  test('is open exactly while the gate is open and the lease is routed, always at the same port (protocol §9.3.3)', async () => {
    let [enabled, routed] = [true, true]
    const { plane, bound } = setup({
      settings: () => ({ enabled, max_leases: 0 }),
      routes: () => routed,
    })
    const claim = await plane.claim('a')
    claim.serve(leaseNamed('a'))
    for (const close of [() => (enabled = false), () => (routed = false)]) {
      close()
      plane.update()
      expect(bound.size).toBe(0)
      ;[enabled, routed] = [true, true]
      plane.update()
      await vi.waitFor(() => expect([...bound]).toEqual([claim.port]))
    }
    routed = false
    plane.update()
    claim.release()
    routed = true
    plane.update()
    await vi.advanceTimersByTimeAsync(10)
    expect(bound.size).toBe(0)
  })

  test('a port that is lost meanwhile stays closed, and is tried at the next change', async () => {
    let [routed, taken] = [true, false]
    let open = 0
    const { plane } = setup({
      routes: () => routed,
      bind: async () => {
        if (taken) throw new Error('in use')
        open += 1
        return {
          close: () => {
            open -= 1
          },
        }
      },
    })
    const claim = await plane.claim('a')
    claim.serve(leaseNamed('a'))
    routed = false
    plane.update()
    ;[routed, taken] = [true, true]
    plane.update()
    await vi.advanceTimersByTimeAsync(10)
    expect(open).toBe(0)
    taken = false
    plane.update()
    await vi.waitFor(() => expect(open).toBe(1))
  })

  test('all ports that are wanted, or none: what was claimed before the failure is given back', async () => {
    const tcp = setup()
    const udp = setup({ pool: undefined })
    const ports = new DedicatedPorts({ tcp: tcp.plane, udp: udp.plane }, {})
    await expect(ports.claim('a', { tcp: true, udp: true })).rejects.toMatchObject({ code: 'udp_disabled' })
    expect(tcp.bound.size).toBe(0)
    expect((await ports.claim('a', {})).ports).toBeUndefined()
  })

  test('reservations of each transport go to their own pool, for 5 minutes after the lease', () => {
    const pools = { tcp: new PortPool({ min: 100, max: 101 }), udp: new PortPool({ min: 100, max: 101 }) }
    restorePorts([['a', { hostname: '', expiresAt: now(), ports: { tcp: 100, udp: 101 } }]], pools)
    vi.advanceTimersByTime(RESERVED_MS - 1)
    expect([...pools.tcp.free('b')]).toEqual([101])
    expect([...pools.udp.free('b')]).toEqual([100])
    vi.advanceTimersByTime(1)
    expect([...pools.tcp.free('b')]).toEqual([101, 100])
  })
})

describe('TcpPorts', () => {
  let networks = 100
  /** @param localAddress by default of another network each time */
  const attempt = async (port: number, localAddress = `127.0.${++networks}.1`): Promise<boolean> => {
    const visitor = connect({ host: '127.0.0.1', port, localAddress })
    visitor.on('error', () => {})
    visitor.resume()
    visitors.push(visitor)
    return await Promise.race([
      new Promise<boolean>((resolve) => visitor.once('close', () => resolve(false))),
      new Promise<boolean>((resolve) => visitor.once('data', () => resolve(true))),
    ])
  }
  const visitors: Socket[] = []
  beforeEach(() => void vi.useRealTimers())

  test('at most a number of visitors on one port, and on all together; the last places are for ports with none', async () => {
    const tcp = new TcpPorts(4, undefined, 2)
    const range = await freeRange(4)
    const [first, second, third, fourth] = [range, range + 1, range + 2, range + 3]
    const greet = (visitor: Socket) => {
      visitor.write('hello')
      visitor.on('end', () => visitor.end())
      visitor.resume()
    }
    const open = await Promise.all([first, second, third, fourth].map((port) => tcp.open(port, greet)))
    const admitted: boolean[] = []
    for (const port of [first, first, first, second, second, third, fourth])
      admitted.push(await attempt(port))
    expect(admitted).toEqual([true, true, false, true, false, true, false])
    visitors[0]?.destroy()
    await expect.poll(() => attempt(fourth)).toBe(true)
    for (const port of open) port.close()
  })

  test('one address leaves room for others at a port, and gets its places back', async () => {
    const port = await freeRange(1)
    const tcp = new TcpPorts(1000, undefined, 32)
    const open = await tcp.open(port, (visitor) => {
      visitor.write('hello')
      visitor.on('end', () => visitor.end()).resume()
    })
    const admitted = async (localAddress: string): Promise<number> => {
      let count = 0
      while (await attempt(port, localAddress)) count++
      return count
    }
    expect(await admitted('127.0.2.7')).toBe(16)
    expect(await admitted('127.0.2.8')).toBe(0)
    expect(await attempt(port, '127.0.1.1')).toBe(true)
    for (const visitor of visitors.splice(0)) visitor.destroy()
    await expect.poll(() => attempt(port, '127.0.2.7')).toBe(true)
    open.close()
  })

  test('a port that is closed is free at once, and its visitors are gone', async () => {
    const port = await freeRange(1)
    const ports = new TcpPorts(1)
    const open = await ports.open(port, (visitor) => void visitor.write('hello'))
    expect(await attempt(port)).toBe(true)
    const left = once(visitors.at(-1) as Socket, 'close')
    open.close()
    const again = await ports.open(port, () => {})
    await left
    await expect(ports.open(port, () => {})).rejects.toMatchObject({ code: 'EADDRINUSE' })
    again.close()
  })
})
