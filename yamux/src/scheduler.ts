// Decides what the transport gets next: control frames first, then a slice of each stream in turn.

import type { ControlQueue } from './control-queue.ts'
import { HEADER_BYTES } from './frame.ts'
import { SLICE_MAX_BYTES, SLICES_PER_MESSAGE } from './limits.ts'
import type { Transport } from './options.ts'

/** A 64 KiB write, or four full TLS records, is one message and leaves nothing for another. */
const MESSAGE_MAX_BYTES = SLICES_PER_MESSAGE * (HEADER_BYTES + SLICE_MAX_BYTES)

/** A stream's side of the queue. */
export interface FrameSource {
  /** What it could send now, headers included; 0 when it waits for bytes or for credit. */
  readonly wireBytes: number
  /**
   * Writes one frame.
   * @param max of its payload, in bytes
   * @returns where it ends; `at` when there is no room for one
   */
  fill(message: Uint8Array, at: number, max: number): number
}

export class Scheduler {
  readonly #transport: Transport
  readonly #control: ControlQueue
  readonly #onFailure: (cause: unknown) => void
  /** What every message is made in, where the transport copies it. */
  readonly #memory: Uint8Array<ArrayBuffer> | undefined
  /** Sources with something to send, in the order of their turns. */
  readonly #ready = new Set<FrameSource>()
  #scheduled = false
  #saturated = false
  #stopped = false

  constructor(transport: Transport, control: ControlQueue, onFailure: (cause: unknown) => void) {
    this.#transport = transport
    this.#control = control
    this.#onFailure = onFailure
    if (transport.copies) this.#memory = new Uint8Array(MESSAGE_MAX_BYTES)
  }

  /** `source` has something to send, or may have again. */
  ready(source: FrameSource): void {
    if (source.wireBytes === 0) return
    this.#ready.add(source)
    this.wake()
  }

  drop(source: FrameSource): void {
    this.#ready.delete(source)
  }

  /** Sends soon: at the end of this turn, so that everything that the turn adds goes out in one message. */
  wake(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => this.#flush())
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#stopped = true
  }

  /** Nothing more is sent but what the control queue holds: that now, saturated or not, because it is little. */
  finish(): void {
    this.stop()
    while (this.#control.byteLength > 0) this.#send()
  }

  #flush(): void {
    this.#scheduled = false
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
    const message = this.#memory?.subarray(0, length) ?? new Uint8Array(length)
    let at = this.#control.moveInto(message)
    for (const source of this.#ready) {
      // Who is alone takes no turns, and what it sends stays in one piece.
      const end = source.fill(message, at, this.#ready.size > 1 ? SLICE_MAX_BYTES : message.length)
      if (end === at) break
      at = end
      // Deleted and added again it comes last in this very loop: round-robin.
      this.#ready.delete(source)
      if (source.wireBytes > 0) this.#ready.add(source)
    }
    return at === message.length ? message : message.subarray(0, at)
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
