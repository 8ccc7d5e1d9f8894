// The bounds of the connections that wait for requests to a local server.

import { afterEach, describe, expect, test, vi } from 'vitest'
import type { TargetConnection } from '../../src/http-client/connection.ts'
import {
  ConnectionPool,
  KEEP_ALIVE_MARGIN_MS,
  TARGET_IDLE_MAX,
  TARGET_IDLE_MS,
} from '../../src/http-client/connection-pool.ts'
import { TargetDialer } from '../../src/http-client/target-dialer.ts'
import { type RawTarget, rawTarget } from '../support/raw-target.ts'

let target: RawTarget
afterEach(async () => {
  vi.useRealTimers()
  await target.close()
})

async function poolOf(): Promise<{ pool: ConnectionPool; open: () => Promise<TargetConnection> }> {
  target = await rawTarget(() => {})
  const pool = new ConnectionPool(new TargetDialer(new URL(target.url), {}))
  return { pool, open: () => pool.open(() => {}) }
}

test('the connection that was used last is used next', async () => {
  const { pool, open } = await poolOf()
  const [first, second] = [await open(), await open()]
  pool.keep(first)
  pool.keep(second)
  expect(pool.take()).toBe(second)
  expect(pool.take()).toBe(first)
  expect(pool.take()).toBeUndefined()
})

test('beyond TARGET_IDLE_MAX a connection is closed', async () => {
  const { pool, open } = await poolOf()
  const connections = await Promise.all(Array.from({ length: TARGET_IDLE_MAX + 5 }, open))
  for (const connection of connections) pool.keep(connection)
  expect(connections.filter(({ isOver }) => isOver)).toHaveLength(5)
})

describe('a connection that waited too long is closed, and not used', () => {
  test.each([
    ['TARGET_IDLE_MS', undefined, TARGET_IDLE_MS],
    ['a second less than the server says', 5_000, 5_000 - KEEP_ALIVE_MARGIN_MS],
  ])('%s', async (_, keptMs, ms) => {
    const { pool, open } = await poolOf()
    const [used, late] = [await open(), await open()]
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
    pool.keep(used, keptMs)
    vi.advanceTimersByTime(ms - 1)
    expect(pool.take()).toBe(used)
    pool.keep(late, keptMs)
    vi.advanceTimersByTime(ms)
    expect(pool.take()).toBeUndefined()
    expect(late.isOver).toBe(true)
  })

  test('also when no request comes', async () => {
    const { pool, open } = await poolOf()
    const connection = await open()
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
    pool.keep(connection)
    vi.advanceTimersByTime(2 * TARGET_IDLE_MS)
    expect(connection.isOver).toBe(true)
  })
})

test('a connection that the server ends while it waits is not used', async () => {
  const { pool, open } = await poolOf()
  const connection = await open()
  pool.keep(connection)
  await expect.poll(() => target.sockets.length).toBe(1)
  target.sockets[0]!.end()
  await expect.poll(() => connection.isOver).toBe(true)
  expect(pool.take()).toBeUndefined()
})
