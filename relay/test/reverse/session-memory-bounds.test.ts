// Bounds of the memory of WebSockets: of one, of a lease, of a network and of the relay. The largest holder loses its streams.

import { describe, expect, test } from 'vitest'
import {
  type MemoryHolder,
  SessionMemories,
  type SessionMemory,
} from '../../src/core/reverse/session-memory.ts'
import { newLease } from '../support/lease.ts'

const BOUNDS = { perSession: 1_000, perLease: 2_000, perNetwork: 3_000, all: 4_000 }
const CLIENT = '192.0.2.1'

/** A WebSocket with streams that hold this many bytes each. */
class TestSocket implements MemoryHolder {
  isOpen = true
  readonly memory: SessionMemory
  streams: number[] = []

  /** @param source null when it stands for many */
  constructor(memories: SessionMemories, lease = newLease(), source: string | null = CLIENT) {
    this.memory = memories.open(lease, source ?? undefined, this)
  }

  /** One more stream. */
  fill(bytes: number): this {
    this.streams.push(bytes)
    this.memory.hold(bytes)
    return this
  }

  shed(bytes: number): number {
    let freed = 0
    this.streams.sort((one, other) => one - other)
    while (freed < bytes && this.streams.length > 0) freed += this.streams.pop()!
    this.memory.hold(-freed)
    return freed
  }

  terminate(): void {
    this.isOpen = false
  }
}

describe('beyond its bound', () => {
  test('a WebSocket loses its largest streams, until an eighth is free', () => {
    const socket = new TestSocket(new SessionMemories(undefined, BOUNDS))
    for (const bytes of [100, 300, 200, 300, 100]) socket.fill(bytes)
    expect(socket.memory.held).toBe(1_000)
    socket.fill(1)
    expect(socket.streams).toEqual([1, 100, 100, 200, 300])
    expect(socket.isOpen).toBe(true)
  })

  test('one that holds it in no stream is closed', () => {
    const socket = new TestSocket(new SessionMemories(undefined, BOUNDS))
    socket.fill(400)
    socket.memory.hold(900)
    expect([socket.isOpen, socket.memory.held]).toEqual([false, 0])
  })

  test.each([
    [
      'a lease',
      2_000,
      (memories: SessionMemories, lease = newLease()) =>
        () =>
          new TestSocket(memories, lease),
    ],
    ['a network', 3_000, (memories: SessionMemories) => () => new TestSocket(memories)],
    [
      'the relay',
      4_000,
      (memories: SessionMemories, host = 0) =>
        () =>
          new TestSocket(memories, newLease(), `192.0.2.${host++}`),
    ],
  ])('the largest WebSocket of %s loses its streams when the bound is exceeded', (what, max, opener) => {
    const onRelief: string[] = []
    const memories = new SessionMemories((bound) => onRelief.push(bound), BOUNDS)
    const open = opener(memories)
    const [large, ...small] = [open(), ...Array.from({ length: max / 500 - 1 }, open)]
    for (let i = 0; i < 9; i++) large.fill(100)
    for (const socket of small) socket.fill(500)
    expect(memories.held).toBeLessThanOrEqual(0.875 * max)
    expect(memories.held).toBeGreaterThan(0.75 * max)
    for (const socket of small) expect(socket.streams).toEqual([500])
    expect(large.memory.held).toBeLessThan(900)
    expect(onRelief).toEqual([what.split(' ').at(-1)])
  })
})

test('a source is an IPv4 address or a /64, and one that stands for many is none', () => {
  const held = (clientAddresses: (string | null)[]): number => {
    const memories = new SessionMemories(undefined, BOUNDS)
    for (const source of clientAddresses) new TestSocket(memories, newLease(), source).fill(900)
    return memories.held
  }
  expect(held(['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:0:1::4'])).toBeLessThan(3_000)
  expect(held(['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::4'])).toBe(3_600)
  expect(held([null, null, null, null])).toBe(3_600)
})

test('windows grow while each bound is half free', () => {
  const memories = new SessionMemories(undefined, BOUNDS)
  const lease = newLease()
  const [one, other, stranger] = [
    new TestSocket(memories, lease),
    new TestSocket(memories, lease),
    new TestSocket(memories, newLease(), '192.0.2.9'),
  ]
  const mayGrow = () => [one, other, stranger].map(({ memory }) => memory.mayGrow)
  one.fill(499)
  expect(mayGrow()).toEqual([true, true, true])
  one.fill(1)
  expect(mayGrow()).toEqual([false, true, true])
  other.fill(500)
  expect(mayGrow()).toEqual([false, false, true])
})

test('one that closes holds nothing any more, twice or late', () => {
  const memories = new SessionMemories(undefined, BOUNDS)
  const lease = newLease()
  const socket = new TestSocket(memories, lease).fill(500)
  socket.memory.close()
  const next = new TestSocket(memories, lease).fill(500)
  socket.memory.close()
  socket.memory.hold(1_000_000)
  expect(memories.held).toBe(500)
  // The bound of the lease is still that of the lease.
  const third = new TestSocket(memories, lease, '192.0.2.2').fill(900)
  new TestSocket(memories, lease, '192.0.2.3').fill(900)
  expect(next.memory.held + third.memory.held).toBeLessThan(1_400)
})
