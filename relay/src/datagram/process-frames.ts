// What the relay and its QUIC process tell each other, over one pipe: frames of a length, a kind, a connection and a payload.

import type { Duplex } from 'node:stream'
import { QUIC_FRAME_MAX_BYTES } from './limits.ts'

/** Of the pipe in the QUIC process: behind the three of every process. */
export const QUIC_PIPE_FD = 3

export const FRAME = {
  /** To the process, first: where to listen, with which certificate. A JSON {@link Begin}. */
  begin: 1,
  /** From the process: one of the two, once. A JSON {@link Listening}, or {@link Failed}. */
  listening: 2,
  failed: 3,
  /** From the process: a handshake is done. The peer's address, as text. */
  opened: 4,
  /** Both ways: bytes of the connection's first stream, and its end. */
  stream: 5,
  streamEnd: 6,
  /** Both ways. */
  datagram: 7,
  /** From the process: the largest DATAGRAM that the connection's path takes has changed. 4 bytes. */
  path: 8,
  /** To the process: 4 bytes of a code, then the reason. */
  close: 9,
  /** From the process: nothing more of that connection will come. */
  closed: 10,
  /** From the process: datagrams that went no further, since it last said so. A JSON {@link Dropped}. */
  dropped: 11,
  /** To the process, which answers: whether it is there. */
  ping: 12,
  pong: 13,
  /** To the process: close all, and exit. */
  end: 14,
} as const

export interface Begin {
  port: number
  certificate: QuicCertificate
}

/** PEM texts. */
export interface QuicCertificate {
  /** Leaf first. */
  chainPem: string
  keyPem: string
}

export interface Listening {
  /** It was started by root, and could not become somebody else. */
  is_root: boolean
}

export interface Failed {
  message: string
  /** Of the system, such as `EADDRINUSE`. */
  code?: string | undefined
}

export interface Dropped {
  queue_full: number
  unauthenticated: number
}

export interface Frame {
  kind: number
  /** 0 where none is meant. */
  connection: number
  /** Valid until the next piece of the pipe is read. */
  payload: Buffer
}

export interface PipeEvents {
  frame(frame: Frame): void
  /** Once. @param isMalformed what the other side sends is none of this; false: it is gone */
  closed(isMalformed: boolean): void
}

const LENGTH_BYTES = 4
const HEAD_BYTES = 9
const NOTHING = Buffer.alloc(0)

export class FrameReader {
  readonly #take: (frame: Frame) => void
  #rest: Buffer = NOTHING

  constructor(take: (frame: Frame) => void) {
    this.#take = take
  }

  /** @returns false when what comes is no frame: nothing that follows could be trusted */
  push(chunk: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32BE(at)
      if (length > QUIC_FRAME_MAX_BYTES) return false
      const end = at + HEAD_BYTES + length
      if (end > bytes.length) break
      const kind = bytes[at + LENGTH_BYTES]!
      const connection = bytes.readUInt32BE(at + LENGTH_BYTES + 1)
      this.#take({ kind, connection, payload: bytes.subarray(at + HEAD_BYTES, end) })
      at = end
    }
    this.#rest = bytes.subarray(at)
    return true
  }
}

/** One side of the pipe. What is sent in one turn of the event loop leaves in one write. */
export class FramePipe {
  readonly #socket: Duplex
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isOver = false
  #drained: Promise<void> | undefined

  constructor(socket: Duplex, { frame, closed }: PipeEvents) {
    this.#socket = socket
    const over = (isMalformed: boolean): void => {
      if (this.#isOver) return
      this.#isOver = true
      socket.destroy()
      closed(isMalformed)
    }
    const reader = new FrameReader(frame)
    socket.on('data', (chunk: Buffer) => {
      if (!this.#isOver && !reader.push(chunk)) over(true)
    })
    for (const end of ['error', 'end', 'close']) socket.on(end, () => over(false))
  }

  /** Bytes that the other side has not taken yet. */
  get queuedBytes(): number {
    return this.#waitingBytes + this.#socket.writableLength
  }

  send(kind: number, connection = 0, payload: Uint8Array = NOTHING): void {
    if (this.#isOver) return
    const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length)
    frame.writeUInt32BE(payload.length)
    frame[LENGTH_BYTES] = kind
    frame.writeUInt32BE(connection, LENGTH_BYTES + 1)
    frame.set(payload, HEAD_BYTES)
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push(frame)
    this.#waitingBytes += frame.length
  }

  /** A frame whose payload is text. */
  say(kind: number, value: object | string, connection = 0): void {
    this.send(kind, connection, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
  }

  /** Resolves when the other side has room again, or is gone. */
  drained(): Promise<void> {
    this.#drained ??= this.#drain()
    return this.#drained
  }

  close(): void {
    this.#socket.destroy()
  }

  async #drain(): Promise<void> {
    // what waits is written by then
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.#isOver && this.#socket.writableNeedDrain)
      await new Promise((resolve) => this.#socket.once('drain', resolve).once('close', resolve))
    this.#drained = undefined
  }

  #flush(): void {
    const frames = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    if (!this.#isOver) this.#socket.write(frames.length === 1 ? frames[0] : Buffer.concat(frames))
  }
}
