// Copies one direction of a bridge whose source is a socket, which is read into the shared buffer.

import { TLSSocket } from 'node:tls'
import { encryptsAtOnce } from '@svc/node-kit/sockets'
import { BRIDGE_TICK_MAX_BYTES, type SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'
import { StreamDuplex } from '../reverse/stream-duplex.ts'
import { BackpressureGate, type Direction } from './backpressure-gate.ts'
import { type Copy, streamCopy, whenEnded } from './copy-from-stream.ts'
import { COALESCE_BYTES, WriteCoalescer } from './write-coalescer.ts'

export function socketCopy(readBuffer: SharedReadBuffer): Copy {
  return (from, to, bandwidth) => {
    if (!readBuffer.suits(from)) return streamCopy(from, to, bandwidth)
    const { take, end, gate } = (from instanceof TLSSocket ? coalesced : direct)({ from, to, bandwidth })
    from.pause()
    readBuffer.receive(from, take, () => bandwidth.isLimited)
    let isOpen = true
    for (let buffered = from.read(); buffered !== null; buffered = from.read()) isOpen = take(buffered)
    // Both calls begin to read the socket.
    if (!isOpen) from.pause()
    whenEnded(from, end)
    gate.open()
  }
}

type Ends = Pick<Direction, 'from' | 'to' | 'bandwidth'>

/** Receives the bytes and the end of a source. */
interface Receiver {
  take: (bytes: Buffer) => boolean
  end: () => void
  gate: BackpressureGate
}

/** Copies from TCP, where one read returns all available bytes, up to the limit of one turn. */
function direct(ends: Ends): Receiver {
  const { to } = ends
  const gate = new BackpressureGate({ ...ends, tickBytesMax: BRIDGE_TICK_MAX_BYTES })
  return {
    take: (bytes) => {
      const sent = to instanceof StreamDuplex ? to.writeNow(bytes) : 0
      if (sent < bytes.length) to.write(encryptsAtOnce(to) ? bytes : Buffer.from(bytes.subarray(sent)))
      return gate.onWritten(bytes.length)
    },
    end: () => to.end(),
    gate,
  }
}

/** Copies from TLS, where one read returns one record; the records of one turn leave in one write. */
function coalesced(ends: Ends): Receiver {
  const { to } = ends
  const coalescer = new WriteCoalescer(to)
  const gate = new BackpressureGate({
    ...ends,
    tickBytesMax: COALESCE_BYTES,
    onTickEnd: () => coalescer.flush(),
  })
  return {
    take: (bytes) => {
      coalescer.add(bytes)
      return gate.onWritten(bytes.length)
    },
    end: () => {
      coalescer.flush()
      to.end()
    },
    gate,
  }
}
