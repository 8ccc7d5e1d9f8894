// Tests how many datagrams of a lease pass.

import { expect, test } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { DatagramForwarder, type ForwarderParts } from '../../src/features/datagrams/datagram-forwarder.ts'

const PER_MS = 20

test('from a lease’s tunnel 4,096 at once, 20,000 a second (protocol §12.2.6)', async () => {
  const port = await freeRange(1)
  const lease = { ports: { udp: port } } as Lease
  const counters = new RelayCounters()
  const parts = { tunnelOf: () => undefined, routes: () => true, counters } as unknown as ForwarderParts
  const plane = new DatagramForwarder(parts)
  const bound = await plane.open(port, () => lease)
  const start = performance.now()
  // of no flow: that is looked for once they are let in
  for (let count = 0; count < 100_000; count += 1) plane.fromTunnel(Uint8Array.of(1), lease)
  const most = 4096 + PER_MS * (performance.now() - start) + 1
  bound.close()
  const dropped = Object.fromEntries(
    [...counters.datagramsDropped].map(({ labels, count }) => [labels.reason, count]),
  )
  expect(dropped.unknown_flow).toBeGreaterThanOrEqual(4096)
  expect(dropped.unknown_flow).toBeLessThanOrEqual(most)
  expect(dropped.rate_limit).toBe(100_000 - dropped.unknown_flow!)
})
