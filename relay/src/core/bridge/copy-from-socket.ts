// Copies one direction of a bridge whose source is a socket, which is read into the shared buffer.

import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { encryptsAtOnce } from '@svc/node-kit/sockets'
import { BRIDGE_TICK_MAX_BYTES, type SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'
import { StreamDuplex } from '../reverse/stream-duplex.ts'
import { BackpressureGate, type Direction } from './backpressure-gate.ts'
import { type Copy, streamCopy, whenEnded } from './copy-from-stream.ts'
import { SpareBuffers } from './spare-buffers.ts'
import { COALESCE_BYTES, WriteCoalescer } from './write-coalescer.ts'

/** Fewer bytes than this have a buffer of their own size, so that a slow destination holds no more than it is sent. */
const LARGE_READ_MIN_BYTES = BRIDGE_TICK_MAX_BYTES / 4
/** Unused buffers of `BRIDGE_TICK_MAX_BYTES` that the relay keeps: 4 MiB. */
const READ_BUFFERS_SPARE_MAX = 16

const spare = new SpareBuffers(BRIDGE_TICK_MAX_BYTES, READ_BUFFERS_SPARE_MAX)

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
      if (sent < bytes.length) {
        if (encryptsAtOnce(to)) to.write(bytes)
        else writeCopy(to, bytes.subarray(sent))
      }
      return gate.onWritten(bytes.length)
    },
    end: () => to.end(),
    gate,
  }
}

function writeCopy(to: Duplex, bytes: Buffer): void {
  if (bytes.length < LARGE_READ_MIN_BYTES) to.write(Buffer.from(bytes))
  else {
    const copy = spare.take()
    copy.set(bytes)
    spare.write(to, copy, bytes.length)
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
