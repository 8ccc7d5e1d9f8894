// Queues frames without payload, which are sent before any data: SYN, ACK, window updates, RST, pings, GoAway.

import { FLAG, type FrameType, HEADER_BYTES, SESSION_ID, TYPE, writeHeader } from './frame.ts'
import { CONTROL_FRAMES_PER_STREAM, CONTROL_QUEUE_MIN_FRAMES, PONG_QUEUE_MAX_FRAMES } from './limits.ts'

interface ControlFrame {
  readonly type: FrameType
  readonly flags: number
  readonly streamId: number
  readonly length: number
}

export class ControlQueue {
  readonly #maxFrames: number
  readonly #frames: ControlFrame[] = []
  #acks = 0
  #pongs = 0

  constructor(maxStreams: number) {
    this.#maxFrames = Math.max(CONTROL_QUEUE_MIN_FRAMES, maxStreams * CONTROL_FRAMES_PER_STREAM)
  }

  get byteLength(): number {
    return this.#frames.length * HEADER_BYTES
  }

  /** The number of the peer's streams whose ACK was not sent yet. */
  get unsentAcks(): number {
    return this.#acks
  }

  get full(): boolean {
    return this.#frames.length >= this.#maxFrames
  }

  push(type: FrameType, flags: number, streamId: number, length: number): void {
    const frame: ControlFrame = { type, flags, streamId, length }
    this.#frames.push(frame)
    this.#count(frame, 1)
  }

  /** Queues an answer to a ping. A peer with many pings in flight, as no honest one has, gets none. */
  pushPong(value: number): void {
    if (this.#pongs < PONG_QUEUE_MAX_FRAMES) this.push(TYPE.ping, FLAG.ack, SESSION_ID, value)
  }

  /**
   * Moves as many frames as fit into `message`.
   * @returns the offset of their end
   */
  moveInto(message: Uint8Array): number {
    const fitting = this.#frames.splice(0, Math.floor(message.length / HEADER_BYTES))
    let at = 0
    for (const frame of fitting) {
      writeHeader(message, at, frame.type, frame.flags, frame.streamId, frame.length)
      at += HEADER_BYTES
      this.#count(frame, -1)
    }
    return at
  }

  #count({ type, flags }: ControlFrame, by: 1 | -1): void {
    if ((flags & FLAG.ack) === 0) return
    if (type === TYPE.ping) this.#pongs += by
    else this.#acks += by
  }
}
