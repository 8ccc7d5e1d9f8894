// Reads messages from the visitor's bytes (RFC 6455 §5.4, §6.2), without I/O and in any chunking.

import { concat } from '../bytes/concat.ts'
import { type CloseStatus, parseClose } from './close-frame.ts'
import type { MessageCompression } from './deflate.ts'
import { WebSocketError } from './errors.ts'
import { CLOSE, CONTINUATION, type FrameHeader, isControl, PING, parseHeader, TEXT } from './frame.ts'
import { STORE_MIN_BYTES } from './limits.ts'
import { decodeUtf8 } from './utf8.ts'

interface ReceiverEvents {
  text(text: string): void
  binary(bytes: Uint8Array<ArrayBuffer>): void
  ping(payload: Uint8Array): void
  /** Called with the visitor's status, as the last event: bytes after a Close frame are ignored (§1.4). */
  close(status: CloseStatus): void
  /** Returns whether to hold back received frames, which may decompress to far more. */
  isPaused(): boolean
}

export class MessageReader {
  readonly #events: ReceiverEvents
  readonly #maxBytes: number
  /** The bytes of an incomplete header. */
  #start: Uint8Array = new Uint8Array(0)
  #frame: FrameHeader | undefined
  /** The number of received bytes of the frame's payload. */
  #at = 0
  #control: Uint8Array = new Uint8Array(0)
  #message: MessagePayload | undefined
  #isText = false
  #isCompressed = false
  #compression: MessageCompression | undefined
  #closed = false
  /** True when `#start` has frames that were held back: the next call of `receive` reads them. */
  isHeld = false

  /** @param maxBytes the longest message */
  constructor(maxBytes: number, events: ReceiverEvents) {
    this.#maxBytes = maxBytes
    this.#events = events
  }

  /** Allows compressed messages from now on. */
  useCompression(compression: MessageCompression): void {
    this.#compression = compression
  }

  /**
   * Reads bytes. Do not call it again after an error.
   * @throws WebSocketError
   */
  receive(received: Uint8Array): void {
    const bytes = concat([this.#start, received])
    this.isHeld = false
    for (let at = 0; !this.#closed; ) {
      if (!this.#frame) {
        if (at > 0 && at < bytes.length && this.#events.isPaused()) {
          this.isHeld = true
          this.#start = bytes.slice(at)
          return
        }
        const header = this.#begin(bytes.subarray(at))
        if (!header) {
          this.#start = bytes.slice(at)
          return
        }
        at += header.size
      }
      at += this.#take(bytes.subarray(at), this.#frame!)
      if (this.#frame) break
    }
    this.#start = new Uint8Array(0)
  }

  #begin(bytes: Uint8Array): FrameHeader | undefined {
    const header = parseHeader(bytes, this.#compression !== undefined)
    if (!header) return undefined
    this.#frame = header
    this.#at = 0
    if (isControl(header.opcode)) this.#control = new Uint8Array(header.length)
    else this.#beginData(header)
    return header
  }

  /** Begins a data frame. Fragments of one message must not be interleaved with those of another (§5.4). */
  #beginData({ opcode, compressed, length }: FrameHeader): void {
    if (opcode === CONTINUATION) {
      if (!this.#message) throw new WebSocketError('unexpected_continuation')
    } else {
      if (this.#message) throw new WebSocketError('unfinished_message')
      this.#message = new MessagePayload()
      this.#isText = opcode === TEXT
      this.#isCompressed = compressed
    }
    if (this.#message.length + length > this.#maxBytes) throw new WebSocketError('message_too_big')
  }

  /** @returns how many of `bytes` belong to the frame */
  #take(bytes: Uint8Array, { opcode, fin, length, mask }: FrameHeader): number {
    const left = length - this.#at
    const piece = bytes.subarray(0, left)
    if (isControl(opcode)) unmask(piece, mask, this.#at, this.#control.subarray(this.#at))
    else {
      const message = this.#message!
      message.append(piece, mask, this.#at, fin ? message.length + left : undefined)
    }
    this.#at += piece.length
    if (piece.length === left) {
      this.#frame = undefined
      if (isControl(opcode)) this.#endControl(opcode)
      else if (fin) this.#endMessage()
    }
    return piece.length
  }

  /** Ends a control frame. A Pong needs no work: only its arrival matters. */
  #endControl(opcode: number): void {
    if (opcode === PING) this.#events.ping(this.#control)
    if (opcode !== CLOSE) return
    this.#closed = true
    this.#events.close(parseClose(this.#control))
  }

  #endMessage(): void {
    const payload = this.#message!.take()
    this.#message = undefined
    const bytes = this.#isCompressed ? this.#compression!.inflate(payload, this.#maxBytes) : payload
    if (this.#isText) this.#events.text(decodeUtf8(bytes))
    else this.#events.binary(bytes)
  }
}

/** Collects the payload of a message from its frames: unmasked and joined, in memory that grows with the received bytes. */
class MessagePayload {
  #store: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /**
   * Adds a piece.
   * @param at the piece's offset in the payload of its frame (the mask repeats, §5.3)
   * @param total the length of the whole message, once its last frame has begun
   */
  append(piece: Uint8Array, mask: Uint8Array, at: number, total: number | undefined): void {
    const needed = this.#length + piece.length
    if (needed > this.#store.length) this.#grow(needed, total)
    unmask(piece, mask, at, this.#store.subarray(this.#length, needed))
    this.#length = needed
  }

  /** Returns the whole payload, in a new ArrayBuffer. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#store.length === this.#length ? this.#store : this.#store.slice(0, this.#length)
  }

  /** Makes room. A merely announced length costs no memory, and many small pieces are moved only a few times. */
  #grow(needed: number, total: number = Number.POSITIVE_INFINITY): void {
    const store = new Uint8Array(Math.min(Math.max(STORE_MIN_BYTES, 2 * needed), total))
    store.set(this.#store.subarray(0, this.#length))
    this.#store = store
  }
}

/**
 * Unmasks bytes (§5.3).
 * @param at the offset of `from` in the payload
 */
function unmask(from: Uint8Array, mask: Uint8Array, at: number, to: Uint8Array): void {
  for (let i = 0; i < from.length; i++) to[i] = from[i]! ^ mask[(at + i) & 3]!
}
