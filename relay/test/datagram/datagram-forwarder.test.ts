// Tests how many datagrams of a lease pass.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decodeDatagram, encodeDatagram } from '@svc/protocol'
import { expect, test } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { Bandwidth } from '../../src/core/rate-limit/bandwidth.ts'
import { LeaseTraffic } from '../../src/core/traffic/lease-traffic.ts'
import { DatagramForwarder, type ForwarderParts } from '../../src/features/datagrams/datagram-forwarder.ts'

const PER_MS = 20

test('from a lease’s tunnel 4,096 at once, 20,000 a second (protocol §12.2.6)', async () => {
  const port = await freeRange(1)
  const lease = { ports: { udp: port } } as Lease
  const counters = new RelayCounters()
  const traffic = new LeaseTraffic()
  const parts = {
    tunnelOf: () => undefined,
    routes: () => true,
    counters,
    traffic,
  } as unknown as ForwarderParts
  const plane = new DatagramForwarder(parts)
  const bound = await plane.open(port, () => lease)
  const start = performance.now()
  // of no flow: that is looked for once they are let in
  for (let count = 0; count < 100_000; count += 1) plane.fromTunnel(Uint8Array.of(1), lease)
  const most = 4096 + PER_MS * (performance.now() - start) + 1
  bound.close()
  traffic.close()
  const dropped = Object.fromEntries(
    [...counters.datagramsDropped].map(({ labels, count }) => [labels.reason, count]),
  )
  expect(dropped.unknown_flow).toBeGreaterThanOrEqual(4096)
  expect(dropped.unknown_flow).toBeLessThanOrEqual(most)
  expect(dropped.rate_limit).toBe(100_000 - dropped.unknown_flow!)
})

test('count in the traffic of the lease: their bytes, flows and networks', async () => {
  const port = await freeRange(1)
  const lease = {
    identityKey: 'game:0x1',
    registeredFrom: '192.0.2.1',
    ports: { udp: port },
    preferences: {},
  }
  const traffic = new LeaseTraffic()
  const arrived = Promise.withResolvers<number>()
  const plane = new DatagramForwarder({
    listenAddress: '127.0.0.1',
    tunnelOf: () => ({
      datagramMaxBytes: 1200,
      sendLine: () => {},
      send: (datagram: Uint8Array) => {
        arrived.resolve(decodeDatagram(datagram)!.flowId)
        return true
      },
    }),
    routes: () => true,
    bandwidthOf: () => new Bandwidth(() => 0),
    counters: new RelayCounters(),
    traffic,
  } as unknown as ForwarderParts)
  const bound = await plane.open(port, () => lease as unknown as Lease)
  const visitor = createSocket('udp4')
  visitor.send(Buffer.alloc(700), port, '127.0.0.1')
  const flow = await arrived.promise
  plane.fromTunnel(encodeDatagram(flow, new Uint8Array(900)), lease as unknown as Lease)
  await once(visitor, 'message')
  traffic.sample()
  const day = { received_bytes: 700, sent_bytes: 900, connections: 1, visitors: 1 }
  expect(traffic.of('game:0x1')).toMatchObject({ open_connections: 1, day })
  visitor.close()
  bound.close()
  expect(traffic.of('game:0x1')).toMatchObject({ open_connections: 0, day })
  traffic.close()
})
