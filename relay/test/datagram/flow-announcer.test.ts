// Tests which flows a tunnel is told about, and how many: visitors with forged addresses make as many as they like.

import { FLOW_ID_MAX, FLOW_LINE_MAX_BYTES } from '@svc/protocol'
import { expect, test, vi } from 'vitest'
import { FlowAnnouncer, flowLineRates } from '../../src/features/datagrams/flow-announcer.ts'
import type { Flow } from '../../src/features/datagrams/flow-table.ts'
import { TUNNEL_STREAM_MAX_BYTES } from '../../src/features/datagrams/limits.ts'
import type { NetworkRates } from '../../src/features/datagrams/network-byte-rates.ts'

const BURST = 256
const NETWORK_BURST = 64

const flowOf = (id: number, address = '192.0.2.1', port = 4711): Flow =>
  ({ id, address, port, seenAt: 0, announcedTo: undefined }) as unknown as Flow

function announcer(rates: NetworkRates = flowLineRates()) {
  const lines: string[] = []
  return {
    lines,
    tunnel: { sendLine: (line: string) => void lines.push(line) },
    other: { sendLine: (line: string) => void lines.push(line) },
    announcer: new FlowAnnouncer(() => rates),
  }
}

test('protocol §12.2.8: each tunnel gets one line about a flow', () => {
  const { announcer: one, tunnel, other, lines } = announcer()
  const flow = flowOf(7)
  one.announce(flow, tunnel)
  one.announce(flow, tunnel)
  expect(lines).toEqual(['{"flow":7,"address":"192.0.2.1","port":4711}\n'])
  one.announce(flow, other)
  expect(lines).toHaveLength(2)
})

test('an address has one spelling, and the longest line fits', () => {
  const { announcer: one, tunnel, lines } = announcer()
  one.announce(flowOf(1, '::ffff:192.0.2.1'), tunnel)
  one.announce(flowOf(2, 'fe80::1%a-long-interface'), tunnel)
  one.announce(flowOf(FLOW_ID_MAX, '2001:1db8:1111:1111:1111:1111:1111:1111', 65_535), tunnel)
  expect(lines.map((line) => JSON.parse(line).address)).toEqual([
    '192.0.2.1',
    'fe80::1',
    '2001:1db8:1111:1111:1111:1111:1111:1111',
  ])
  const longest = Math.max(...lines.map((line) => line.length))
  expect(longest).toBeLessThanOrEqual(FLOW_LINE_MAX_BYTES)
  expect(longest * BURST).toBeLessThanOrEqual(TUNNEL_STREAM_MAX_BYTES / 2)
})

test('protocol §12.2.9: a flood of forged addresses gets 256 lines at once, and 1,024 in a second', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const { announcer: one, tunnel, lines } = announcer(flowLineRates())
  let id = 0
  const flood = (count: number): void => {
    for (let sent = 0; sent < count; sent += 1) {
      id += 1
      one.announce(flowOf(id, `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`), tunnel)
    }
  }
  flood(5_000)
  expect(lines).toHaveLength(BURST)
  for (let ms = 1; ms <= 1_000; ms += 1) {
    now.mockReturnValue(1_000 + ms)
    flood(20)
  }
  expect(lines.length).toBeGreaterThanOrEqual(BURST + 1_023)
  expect(lines.length).toBeLessThanOrEqual(BURST + 1_024)
})

test('protocol §12.2.9: one network gets a quarter of them, so that others are told of as well', () => {
  vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const { announcer: one, tunnel, lines } = announcer()
  for (let id = 1; id <= 5_000; id += 1) one.announce(flowOf(id, '192.0.2.66', id), tunnel)
  expect(lines).toHaveLength(NETWORK_BURST)
  one.announce(flowOf(9_999, '192.0.2.1'), tunnel)
  expect(lines).toHaveLength(NETWORK_BURST + 1)
})

test('protocol §12.2.9: a line that was left out does not come later', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const { announcer: one, tunnel, lines } = announcer()
  const flows = Array.from({ length: BURST }, (_, id) => flowOf(id + 1, '192.0.2.66', id + 1))
  for (const flow of flows) one.announce(flow, tunnel)
  now.mockReturnValue(60_000)
  for (const flow of flows) one.announce(flow, tunnel)
  expect(lines).toHaveLength(NETWORK_BURST)
})
