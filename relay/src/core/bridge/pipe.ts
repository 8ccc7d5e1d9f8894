// Copies bytes between two streams in both directions, each of which ends independently.

import type { Duplex } from 'node:stream'
import type { SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'
import type { Bandwidth } from '../rate-limit/bandwidth.ts'
import { StreamDuplex } from '../reverse/stream-duplex.ts'
import { carrierCopy } from './copy-from-carrier.ts'
import { socketCopy } from './copy-from-socket.ts'
import { type Copy, streamCopy } from './copy-from-stream.ts'

/** Resolves when both streams are closed. The end of one half-closes the other; an error of one destroys the other. */
export type Pipe = (a: Duplex, b: Duplex, bandwidth: Bandwidth, screen?: Screen) => Promise<void>

/** Reads the first bytes, and calls `begin` for each direction whose rest can be copied. */
type Screen = (begin: (from: Duplex, to: Duplex) => void) => void

/** @param readBuffer makes sockets cheaper to read; without it, Node allocates a buffer for each read */
export function createPipe(readBuffer: SharedReadBuffer | undefined): Pipe {
  const copy = readBuffer === undefined ? streamCopy : socketCopy(readBuffer)
  const join: Copy = (from, to, bandwidth) => {
    if (from instanceof StreamDuplex) carrierCopy(from, to, bandwidth)
    else copy(from, to, bandwidth)
  }
  return async (a, b, bandwidth, screen) => {
    const begin = (from: Duplex, to: Duplex): void => join(from, to, bandwidth)
    if (screen === undefined) {
      begin(a, b)
      begin(b, a)
    } else screen(begin)
    await Promise.all([closed(a, b), closed(b, a)])
  }
}

function closed(stream: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      const orderly = stream.readableEnded && stream.writableFinished
      if (!orderly) other.destroy()
      resolve()
    }
    stream.on('error', () => {})
    if (stream.closed) done()
    else stream.once('close', done)
  })
}
