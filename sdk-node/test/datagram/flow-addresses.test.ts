// Datagrams that wait for the lines about their flows: for how long, how many, and what a flood of flows does to the others.

import type { RemoteAddress } from '@svc/sdk-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FlowAddresses } from '../../src/datagram/flow-addresses.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const remoteOf = (port: number): RemoteAddress => ({ address: '192.0.2.1', port, reportedBy: 'relay' })

function addresses() {
  const opened = new Map<number, RemoteAddress | undefined>()
  const delivered: string[] = []
  const dropped = vi.fn()
  const waiting = new FlowAddresses({
    open: (flowId, remote) => void opened.set(flowId, remote),
    deliver: (flowId, payload) => {
      expect(opened.has(flowId)).toBe(true)
      delivered.push(`${flowId}:${Buffer.from(payload)}`)
    },
    dropped,
  })
  const receive = (flowId: number, payload: string | Uint8Array): void => {
    const bytes = Buffer.from(payload)
    if (opened.has(flowId)) delivered.push(`${flowId}:${bytes}`)
    else waiting.received(flowId, bytes)
  }
  return { opened, delivered, dropped, receive, waiting }
}

it('does not keep a datagram whose line has come', () => {
  const { waiting, receive, opened, delivered } = addresses()
  waiting.told(1, remoteOf(1))
  receive(1, 'a')
  expect(opened.get(1)).toEqual(remoteOf(1))
  expect(delivered).toEqual(['1:a'])
})

it('protocol §12.2.10: keeps datagrams in their order until the line comes', () => {
  const { waiting, receive, opened, delivered } = addresses()
  receive(1, 'a')
  receive(1, 'b')
  receive(2, 'c')
  expect(delivered).toEqual([])
  vi.advanceTimersByTime(49)
  waiting.told(1, remoteOf(1))
  receive(1, 'd')
  expect(opened).toEqual(new Map([[1, remoteOf(1)]]))
  expect(delivered).toEqual(['1:a', '1:b', '1:d'])
})

it('protocol §12.2.10: keeps them for 50 ms, and then the address is unknown', () => {
  const { waiting, receive, opened, delivered } = addresses()
  receive(1, 'a')
  vi.advanceTimersByTime(49)
  expect(delivered).toEqual([])
  vi.advanceTimersByTime(1)
  waiting.told(1, remoteOf(1))
  receive(1, 'b')
  expect(opened).toEqual(new Map([[1, undefined]]))
  expect(delivered).toEqual(['1:a', '1:b'])
})

it('protocol §12.2.10: the first line of a flow counts', () => {
  const { waiting, receive, opened } = addresses()
  waiting.told(1, remoteOf(1))
  waiting.told(1, remoteOf(2))
  receive(1, 'a')
  expect(opened.get(1)).toEqual(remoteOf(1))
})

it('knows the visitor of a flow that was closed here and goes on', () => {
  const { waiting, receive, opened } = addresses()
  waiting.told(1, remoteOf(1))
  receive(1, 'a')
  opened.clear()
  receive(1, 'b')
  expect(opened.get(1)).toEqual(remoteOf(1))
})

it('keeps sixteen datagrams and 32 KiB of one flow', () => {
  const { waiting, receive, delivered, dropped } = addresses()
  for (let count = 0; count < 20; count += 1) receive(1, `${count}`)
  expect(dropped).toHaveBeenCalledTimes(4)
  for (let count = 0; count < 5; count += 1) receive(2, Buffer.alloc(10 * 1024))
  expect(dropped).toHaveBeenCalledTimes(4 + 2)
  waiting.told(1, remoteOf(1))
  expect(delivered).toHaveLength(16)
  expect(delivered.at(-1)).toBe('1:15')
})

it.each([
  ['datagrams', 1, 4096],
  ['bytes', 32 * 1024, 128],
])(
  'a flood that fills the bound of %s delays nobody else: new flows go on without an address',
  (_what, bytes, most) => {
    const { waiting, receive, opened, delivered } = addresses()
    for (let flowId = 1; flowId <= most; flowId += 1) receive(flowId, Buffer.alloc(bytes))
    expect(delivered).toEqual([])
    receive(70_000, 'honest')
    expect(opened).toEqual(new Map([[70_000, undefined]]))
    expect(delivered).toEqual(['70000:honest'])
    waiting.told(80_000, remoteOf(8))
    receive(80_000, 'honest')
    expect(opened.get(80_000)).toEqual(remoteOf(8))
    vi.advanceTimersByTime(50)
    expect(delivered).toHaveLength(most + 2)
    receive(90_000, 'waits again')
    expect(opened.has(90_000)).toBe(false)
  },
)

it('remembers so many lines of flows that never come, and no more', () => {
  const { waiting, receive, opened } = addresses()
  for (let flowId = 1; flowId <= 16_385; flowId += 1) waiting.told(flowId, remoteOf(1))
  receive(1, 'forgotten')
  receive(2, 'known')
  expect([...opened.keys()]).toEqual([2])
})

it('forgets what waits and all addresses with the registration', () => {
  const { waiting, receive, opened, delivered } = addresses()
  receive(1, 'a')
  waiting.told(2, remoteOf(2))
  waiting.clear()
  vi.advanceTimersByTime(50)
  expect(delivered).toEqual([])
  receive(2, 'b')
  vi.advanceTimersByTime(50)
  expect(opened).toEqual(new Map([[2, undefined]]))
})
