// One direction of a bridge whose source is a socket: its bytes are read without a buffer of their own.

import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { COALESCE_BYTES, TURN_MAX_BYTES } from '../limits.ts'
import { BackpressureGate, type Direction } from './backpressure-gate.ts'
import type { SharedReadBuffer } from './shared-read-buffer.ts'
import { type Copy, streamCopy, whenEnded } from './stream-copy.ts'
import { WriteCoalescer } from './write-coalescer.ts'

export function socketCopy(readBuffer: SharedReadBuffer): Copy {
  return (from, to, bandwidth) => {
    if (!readBuffer.suits(from)) return streamCopy(from, to, bandwidth)
    const { take, end, valve } = (from instanceof TLSSocket ? gathered : direct)({ from, to, bandwidth })
    from.pause()
    readBuffer.receive(from, take, () => bandwidth.isLimited)
    for (let early = from.read(); early !== null; early = from.read()) take(early)
    whenEnded(from, end)
    valve.open()
  }
}

type Ends = Pick<Direction, 'from' | 'to' | 'bandwidth'>

/** What a {@link SharedReadBuffer} needs, and the end of it. */
interface Intake {
  take: (bytes: Buffer) => boolean
  end: () => void
  valve: BackpressureGate
}

/** From TCP: one read brings all that is there, or a turn's share. */
function direct(ends: Ends): Intake {
  const { to } = ends
  const valve = new BackpressureGate({ ...ends, turnBytes: TURN_MAX_BYTES })
  return {
    take: (bytes) => {
      to.write(takesAtOnce(to) ? bytes : Buffer.from(bytes))
      return valve.passed(bytes.length)
    },
    end: () => to.end(),
    valve,
  }
}

/** From TLS, which brings one record at a time: those of a turn leave in one write. */
function gathered(ends: Ends): Intake {
  const { to } = ends
  const gathering = new WriteCoalescer(to)
  const valve = new BackpressureGate({
    ...ends,
    turnBytes: COALESCE_BYTES,
    onTurnEnd: () => gathering.flush(),
  })
  return {
    take: (bytes) => {
      gathering.add(bytes)
      return valve.passed(bytes.length)
    },
    end: () => {
      gathering.flush()
      to.end()
    },
    valve,
  }
}

/** Node's TLS encrypts what it is given before `write` returns, unless an earlier write has to wait. */
function takesAtOnce(to: Duplex): boolean {
  return to instanceof TLSSocket && to.writableLength === 0 && to.writableCorked === 0
}
