// Chooses the frames of the next message: control frames first, then a slice of each stream in round-robin order.

import type { ControlQueue } from './control-queue.ts'
import { HEADER_BYTES } from './frame.ts'
import { SLICE_MAX_BYTES, SLICES_PER_MESSAGE } from './limits.ts'
import type { Transport } from './session-owner.ts'

/** One message holds a write of 64 KiB, or four full TLS records, with nothing left over. */
const MESSAGE_MAX_BYTES = SLICES_PER_MESSAGE * (HEADER_BYTES + SLICE_MAX_BYTES)

/** A FrameSource is a stream's queue for the scheduler. */
export interface FrameSource {
  /** The bytes that it could send now, with headers. 0 while it waits for bytes or for credit. */
  readonly wireBytes: number
  /**
   * Writes one frame.
   * @param max the most bytes of its payload
   * @returns the offset of its end; `at` when there is no room for one
   */
  fill(message: Uint8Array, at: number, max: number): number
}

export class Scheduler {
  readonly #transport: Transport
  readonly #control: ControlQueue
  readonly #onFailure: (cause: unknown) => void
  /** The reused memory for messages that the transport copies. */
  #memory: Uint8Array<ArrayBuffer> | undefined
  /** The sources with bytes to send, in round-robin order. */
  readonly #ready = new Set<FrameSource>()
  #scheduled = false
  #saturated = false
  #stopped = false

  constructor(transport: Transport, control: ControlQueue, onFailure: (cause: unknown) => void) {
    this.#transport = transport
    this.#control = control
    this.#onFailure = onFailure
  }

  /** Notes that `source` may have bytes to send. */
  ready(source: FrameSource): void {
    if (source.wireBytes === 0) return
    this.#ready.add(source)
    this.wake()
  }

  drop(source: FrameSource): void {
    this.#ready.delete(source)
  }

  /** Sends at the end of this event-loop turn, so that everything that the turn adds goes out in one message. */
  wake(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#sendAll()
    })
  }

  /** Sends what `source` has now, with everything queued before it. Afterwards the source offers nothing more. */
  flush(source: FrameSource): void {
    if (source.wireBytes > 0) this.#ready.add(source)
    this.#sendAll()
    this.#ready.delete(source)
  }

  /** Stops sending. */
  stop(): void {
    this.#stopped = true
  }

  /** Sends only the control queue, at once and even if saturated, because it is small. */
  finish(): void {
    this.stop()
    while (this.#control.byteLength > 0) this.#send()
  }

  #sendAll(): void {
    while (!this.#saturated && !this.#stopped && (this.#ready.size > 0 || this.#control.byteLength > 0))
      this.#send()
  }

  #send(): void {
    const message = this.#nextMessage()
    try {
      const drained = this.#transport.send(message)
      if (drained === undefined) return
      this.#saturated = true
      drained.then(() => {
        this.#saturated = false
        this.wake()
      }, this.#onFailure)
    } catch (cause) {
      this.#onFailure(cause)
    }
  }

  #nextMessage(): Uint8Array<ArrayBuffer> {
    const length = this.#nextMessageBytes()
    const message = this.#memoryFor(length)
    let at = this.#control.moveInto(message)
    for (const source of this.#ready) {
      // A single stream is not sliced, so its write stays in one piece.
      const end = source.fill(message, at, this.#ready.size > 1 ? SLICE_MAX_BYTES : message.length)
      if (end === at) break
      at = end
      // A source that is deleted and added again comes last in this same loop: round-robin.
      this.#ready.delete(source)
      if (source.wireBytes > 0) this.#ready.add(source)
    }
    return at === message.length ? message : message.subarray(0, at)
  }

  #memoryFor(length: number): Uint8Array<ArrayBuffer> {
    if (!this.#transport.copies) return new Uint8Array(length)
    this.#memory ??= new Uint8Array(MESSAGE_MAX_BYTES)
    return this.#memory.subarray(0, length)
  }

  #nextMessageBytes(): number {
    let bytes = Math.min(this.#control.byteLength, MESSAGE_MAX_BYTES)
    for (const source of this.#ready) {
      bytes += source.wireBytes
      if (bytes >= MESSAGE_MAX_BYTES) return MESSAGE_MAX_BYTES
    }
    return bytes
  }
}
