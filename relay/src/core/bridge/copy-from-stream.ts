// Copies one direction of a bridge between streams of any kind.

import type { Duplex } from 'node:stream'
import { BRIDGE_TICK_MAX_BYTES } from '../node-internals/shared-read-buffer.ts'
import type { Bandwidth } from '../rate-limit/bandwidth.ts'
import { BackpressureGate } from './backpressure-gate.ts'

export type Copy = (from: Duplex, to: Duplex, bandwidth: Bandwidth) => void

export const streamCopy: Copy = (from, to, bandwidth) => {
  const gate = new BackpressureGate({
    from,
    to,
    bandwidth,
    tickBytesMax: BRIDGE_TICK_MAX_BYTES,
    onTickEnd: () => to.uncork(),
  })
  from.on('data', (chunk: Buffer) => {
    // Chunks of one turn of the event loop, such as the frames of one message, leave in one write.
    if (to.writableCorked === 0) to.cork()
    to.write(chunk)
    if (!gate.onWritten(chunk.length)) from.pause()
  })
  whenEnded(from, () => to.end())
  gate.open()
}

/** Calls `then` when the stream ends, or at once: a socket without a reader may have emitted 'end' before. */
export function whenEnded(stream: Duplex, then: () => void): void {
  if (stream.readableEnded) then()
  else stream.on('end', then)
}
