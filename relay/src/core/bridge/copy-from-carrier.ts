// Copies one direction of a bridge whose source is a stream of a carrier, which passes on what the carrier has just read.

import type { Duplex } from 'node:stream'
import { BRIDGE_TICK_MAX_BYTES } from '../node-internals/shared-read-buffer.ts'
import type { Bandwidth } from '../rate-limit/bandwidth.ts'
import type { StreamDuplex } from '../reverse/stream-duplex.ts'
import { BackpressureGate } from './backpressure-gate.ts'
import { whenEnded } from './copy-from-stream.ts'
import { WriteCoalescer } from './write-coalescer.ts'

export function carrierCopy(from: StreamDuplex, to: Duplex, bandwidth: Bandwidth): void {
  const coalescer = new WriteCoalescer(to)
  const gate = new BackpressureGate({
    from,
    to,
    bandwidth,
    tickBytesMax: BRIDGE_TICK_MAX_BYTES,
    // The bytes of one turn of the event loop, such as the frames of one message, leave in one write.
    onTickEnd: () => coalescer.flush(),
  })
  from.passTo({
    take: (bytes) => {
      coalescer.add(bytes)
      return gate.onWritten(bytes.length)
    },
    end: () => coalescer.flush(),
  })
  whenEnded(from, () => to.end())
  gate.open()
}
