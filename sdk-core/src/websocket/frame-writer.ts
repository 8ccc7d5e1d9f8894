// Writes frames to the visitor in order, as fast as the stream accepts them, and counts the queued bytes.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { concat } from '../bytes/concat.ts'
import { type CloseStatus, encodeClose } from './close-frame.ts'
import type { MessageCompression } from './deflate.ts'
import { BINARY, CLOSE, encodeHeader, PING, PONG, TEXT } from './frame.ts'
import { DEFLATE_MAX_BYTES, DEFLATE_MIN_BYTES, WRITE_BYTES } from './limits.ts'

interface Frame {
  opcode: number
  /** The payload. A Blob is read when its frame is the next to be sent. */
  payload: Uint8Array | Blob
}

const NOTHING = new Uint8Array(0)
/** Marks in the queue an end without a Close frame. */
const CUT: Frame = { opcode: CLOSE, payload: NOTHING }

export class FrameWriter {
  /** Settles when the stream accepted the Close frame, or never will. Never rejects. */
  readonly finished: Promise<void>
  readonly #finished: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  readonly #failed: (error: unknown) => void
  #stream: ByteStream | undefined
  #compression: MessageCompression | undefined
  #queue: Frame[] = []
  /**
   * The Pong to send. Control frames precede queued messages (§5.5), and of several Pongs only the last is sent
   * (§5.5.3).
   */
  #pong: Frame | undefined
  #ping: Frame | undefined
  #buffered = 0
  #state: 'open' | 'closing' | 'over' = 'open'
  #running = false

  /** @param failed called when something cannot be sent */
  constructor(failed: (error: unknown) => void) {
    this.finished = this.#finished.promise
    this.#failed = failed
  }

  /** The message bytes, without headers, that the stream has not accepted yet. */
  get bufferedAmount(): number {
    return this.#buffered
  }

  /** Sends the queued frames, and later ones at once. */
  start(stream: ByteStream, compression?: MessageCompression): void {
    this.#stream = stream
    this.#compression = compression
    this.#run()
  }

  text(text: string): void {
    this.#message({ opcode: TEXT, payload: new TextEncoder().encode(text) })
  }

  /**
   * Sends a binary message.
   * @param payload bytes or a Blob, which the writer owns
   */
  binary(payload: Uint8Array | Blob): void {
    this.#message({ opcode: BINARY, payload })
  }

  ping(): void {
    this.#ping = { opcode: PING, payload: NOTHING }
    this.#run()
  }

  pong(payload: Uint8Array): void {
    this.#pong = { opcode: PONG, payload }
    this.#run()
  }

  /** Sends the Close frame after the queued messages. Only the first call counts. */
  close(status: CloseStatus): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#queue.push({ opcode: CLOSE, payload: encodeClose(status) })
    this.#run()
  }

  /** Ends the direction after the queued messages, without a Close frame. */
  cut(): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#queue.push(CUT)
    this.#run()
  }

  /** Stops: nothing more is sent. */
  stop(): void {
    this.#state = 'over'
    this.#queue = []
    this.#finished.resolve()
  }

  #message(frame: Frame): void {
    this.#buffered += sizeOf(frame)
    this.#queue.push(frame)
    this.#run()
  }

  async #run(): Promise<void> {
    if (this.#running || !this.#stream) return
    this.#running = true
    try {
      for (let frame = this.#next(); frame; frame = this.#next()) {
        if (frame === CUT) await this.#stream.end()
        else await this.#write(this.#stream, frame)
        if (frame === CUT || frame.opcode === CLOSE) this.stop()
      }
    } catch (error) {
      this.stop()
      this.#failed(error)
    }
    this.#running = false
  }

  #next(): Frame | undefined {
    if (this.#state === 'over') return undefined
    const control = this.#pong ?? this.#ping
    if (!control) return this.#queue.shift()
    if (control === this.#pong) this.#pong = undefined
    else this.#ping = undefined
    return control
  }

  async #write(stream: ByteStream, frame: Frame): Promise<void> {
    const { opcode } = frame
    const message = 'size' in frame.payload ? await readBlob(frame.payload) : frame.payload
    const deflated = this.#deflate(opcode, message)
    const payload = deflated ?? message
    let head = encodeHeader(opcode, payload.length, deflated !== undefined)
    let at = 0
    do {
      const piece = payload.subarray(at, at + WRITE_BYTES)
      await stream.write(concat([head, piece]))
      if (opcode < CLOSE && !deflated) this.#buffered -= piece.length
      head = NOTHING
      at += piece.length
    } while (at < payload.length)
    if (deflated) this.#buffered -= message.length
  }

  /**
   * Compresses text. Binary messages are mostly images and archives, which are already compressed.
   * @returns undefined to send the message uncompressed
   */
  #deflate(opcode: number, message: Uint8Array): Uint8Array | undefined {
    const { length } = message
    if (!this.#compression || opcode !== TEXT || length < DEFLATE_MIN_BYTES || length > DEFLATE_MAX_BYTES)
      return undefined
    const deflated = this.#compression.deflate(message)
    return deflated.length < length ? deflated : undefined
  }
}

function sizeOf({ payload }: Frame): number {
  return 'size' in payload ? payload.size : payload.length
}

async function readBlob(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer())
}
