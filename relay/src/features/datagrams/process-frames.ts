// Encodes the messages between relay and QUIC process: frames of a length, a kind, a connection and a payload on one pipe.

import type { Duplex } from 'node:stream'
import { QUIC_FRAME_MAX_BYTES } from './limits.ts'

/** Descriptor of the pipe in the QUIC process, after the three standard ones. */
export const QUIC_PIPE_FD = 3

export const FRAME = {
  /** To the process, first: the port and the certificate. A JSON {@link Begin}. */
  begin: 1,
  /** From the process, once: `listening` with a JSON {@link Listening}, or `failed` with a JSON {@link Failed}. */
  listening: 2,
  failed: 3,
  /** From the process: a handshake is complete. The payload is the peer's address, as text. */
  opened: 4,
  /** In both directions: bytes of the connection's first stream, and its end. */
  stream: 5,
  streamEnd: 6,
  /** In both directions: 8 bytes of the time at which it began to wait (`monotonic` of clock.ts), then one DATAGRAM. */
  datagram: 7,
  /** From the process: the largest DATAGRAM that the connection's path takes has changed, to this size in 4 bytes. */
  path: 8,
  /** To the process: 4 bytes of a code, then the reason. */
  close: 9,
  /** From the process: the connection is closed, and no frame of it follows. */
  closed: 10,
  /** From the process: the datagrams dropped since the last report. A JSON {@link Dropped}. */
  dropped: 11,
  /** To the process, which answers with `pong`. */
  ping: 12,
  pong: 13,
  /** To the process: it closes all connections and exits. */
  end: 14,
  /** To the process: the peer of the connection takes aggregates of datagrams. */
  aggregate: 15,
  /** To the process: a line for the connection's first stream, which it drops when much waits there. */
  line: 16,
} as const

export interface Begin {
  port: number
  /** The address at which the endpoint is opened; undefined: every address. */
  address?: string | undefined
  certificate: QuicCertificate
}

/** PEM texts. */
export interface QuicCertificate {
  /** Leaf first. */
  chainPem: string
  keyPem: string
}

export interface Listening {
  /** Whether the process still has the rights of root. */
  is_root: boolean
}

export interface Failed {
  message: string
  /** The system's error code, such as `EADDRINUSE`. */
  code?: string | undefined
}

export interface Dropped {
  queue_full: number
  too_old: number
  unauthenticated: number
}

export interface Frame {
  kind: number
  /** 0 for a frame without a connection. */
  connection: number
  /** Valid until the next chunk is read from the pipe. */
  payload: Buffer
}

export interface PipeEvents {
  frame(frame: Frame): void
  /**
   * Called once.
   * @param isMalformed whether the peer sent something other than frames; false when the pipe has ended
   */
  closed(isMalformed: boolean): void
}

/** A double, big-endian. */
const TIME_BYTES = 8
const LENGTH_BYTES = 4
const HEAD_BYTES = 9
const EMPTY = Buffer.alloc(0)

export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  #partial: Buffer = EMPTY

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
  }

  /** @returns false when the bytes are not a frame; then nothing that follows can be trusted */
  push(chunk: Buffer): boolean {
    const bytes = this.#partial.length === 0 ? chunk : Buffer.concat([this.#partial, chunk])
    let offset = 0
    while (bytes.length - offset >= HEAD_BYTES) {
      const length = bytes.readUInt32BE(offset)
      if (length > QUIC_FRAME_MAX_BYTES) return false
      const end = offset + HEAD_BYTES + length
      if (end > bytes.length) break
      const kind = bytes[offset + LENGTH_BYTES]!
      const connection = bytes.readUInt32BE(offset + LENGTH_BYTES + 1)
      this.#onFrame({ kind, connection, payload: bytes.subarray(offset + HEAD_BYTES, end) })
      offset = end
    }
    this.#partial = bytes.subarray(offset)
    return true
  }
}

/** One side of the pipe. Frames of one turn of the event loop leave in one write. */
export class FramePipe {
  readonly #socket: Duplex
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #isFinished = false
  #drained: Promise<void> | undefined

  constructor(socket: Duplex, { frame, closed }: PipeEvents) {
    this.#socket = socket
    const finish = (isMalformed: boolean): void => {
      if (this.#isFinished) return
      this.#isFinished = true
      socket.destroy()
      closed(isMalformed)
    }
    const reader = new FrameReader(frame)
    socket.on('data', (chunk: Buffer) => {
      if (!this.#isFinished && !reader.push(chunk)) finish(true)
    })
    for (const end of ['error', 'end', 'close']) socket.on(end, () => finish(false))
  }

  /** Bytes that the peer has not taken yet. */
  get queuedBytes(): number {
    return this.#unsentBytes + this.#socket.writableLength
  }

  send(kind: number, connection = 0, payload: Uint8Array = EMPTY): void {
    if (!this.#isFinished) this.#queue(kind, connection, payload.length).set(payload, HEAD_BYTES)
  }

  /** Sends a datagram frame. @param at the time at which it began to wait */
  sendDatagram(connection: number, datagram: Uint8Array, at: number): void {
    if (this.#isFinished) return
    const frame = this.#queue(FRAME.datagram, connection, TIME_BYTES + datagram.length)
    frame.writeDoubleBE(at, HEAD_BYTES)
    frame.set(datagram, HEAD_BYTES + TIME_BYTES)
  }

  /** Sends a frame whose payload is text, or JSON. */
  sendText(kind: number, value: object | string, connection = 0): void {
    this.send(kind, connection, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
  }

  /** Resolves when the peer has room again, or the pipe has ended. */
  drained(): Promise<void> {
    this.#drained ??= this.#drain()
    return this.#drained
  }

  close(): void {
    this.#socket.destroy()
  }

  /** @returns the frame, into which the payload has yet to be written */
  #queue(kind: number, connection: number, length: number): Buffer {
    const frame = Buffer.allocUnsafe(HEAD_BYTES + length)
    frame.writeUInt32BE(length)
    frame[LENGTH_BYTES] = kind
    frame.writeUInt32BE(connection, LENGTH_BYTES + 1)
    if (this.#unsent.length === 0) setImmediate(() => this.#flush())
    this.#unsent.push(frame)
    this.#unsentBytes += frame.length
    return frame
  }

  async #drain(): Promise<void> {
    // The unsent frames are written by then.
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.#isFinished && this.#socket.writableNeedDrain)
      await new Promise((resolve) => this.#socket.once('drain', resolve).once('close', resolve))
    this.#drained = undefined
  }

  #flush(): void {
    const frames = this.#unsent
    this.#unsent = []
    this.#unsentBytes = 0
    if (!this.#isFinished) this.#socket.write(frames.length === 1 ? frames[0] : Buffer.concat(frames))
  }
}

/** @returns the parts of a datagram frame's payload; undefined when it is too short. The datagram shares its memory. */
export function datagramOf(payload: Buffer): { at: number; datagram: Buffer } | undefined {
  if (payload.length < TIME_BYTES) return undefined
  return { at: payload.readDoubleBE(), datagram: payload.subarray(TIME_BYTES) }
}
