// Writes frames to the visitor. Those of one event-loop turn go in one write: control frames first, then DATA.

import type { DeadlineWriter } from '../exchange/deadline-writer.ts'
import { WRITE_BYTES } from '../semantics/limits.ts'
import type { DataQueue } from './data-queue.ts'
import { HEADER_BYTES } from './frame.ts'
import { CONTROL_WAITING_MAX_BYTES, FRAME_BYTES, WORK_MIN_BYTES } from './limits.ts'
import { INITIAL_WINDOW_BYTES } from './settings.ts'

export class FrameWriter {
  /** The octets that the visitor accepts on the whole connection (RFC 9113 §6.9). */
  window: number = INITIAL_WINDOW_BYTES
  readonly #writer: DeadlineWriter
  readonly #worked: () => void
  #control: Uint8Array[] = []
  #controlBytes = 0
  /** The streams with octets to send, in round-robin order. */
  #round: DataQueue[] = []
  #pumping: Promise<void> | undefined
  #room: PromiseWithResolvers<void> | undefined

  /** @param worked called when a DATA frame was sent that the visitor may answer with frames */
  constructor(writer: DeadlineWriter, worked: () => void) {
    this.#writer = writer
    this.#worked = worked
  }

  /** Queues frames that must keep their order and need no window. */
  control(frame: Uint8Array): void {
    this.#control.push(frame)
    this.#controlBytes += frame.length
    this.#pump()
  }

  /** Queues a stream that has octets to send or a larger window. */
  data(queue: DataQueue): void {
    if (queue.isQueued || !queue.isReady) return
    queue.isQueued = true
    this.#round.push(queue)
    this.#pump()
  }

  /** Adds `increment` to the connection's window. */
  opened(increment: number): void {
    this.window += increment
    this.#pump()
  }

  /**
   * Waits while too many control frames are queued, so that the connection reads nothing more that needs an answer. Never
   * rejects.
   */
  async hasRoom(): Promise<void> {
    if (this.#controlBytes <= CONTROL_WAITING_MAX_BYTES) return
    this.#room ??= Promise.withResolvers()
    await this.#room.promise
  }

  /** Settles when everything that can be sent was sent, or never will be. Never rejects. */
  async drained(): Promise<void> {
    while (this.#pumping) await this.#pumping
  }

  #pump(): void {
    this.#pumping ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      await undefined // Lets other frames of this turn join the same write.
      for (let bytes = this.#collectFrames(); bytes; bytes = this.#collectFrames())
        await this.#writer.write(bytes)
    } catch {
      // The writer reports the error to the connection, and nothing more is sent.
      this.#takeControl(undefined)
      this.#round = []
    }
    this.#pumping = undefined
  }

  /** Returns all control frames and a round of DATA. Undefined when nothing can be sent. */
  #collectFrames(): Uint8Array | undefined {
    const max = Math.min(this.window, WRITE_BYTES)
    let octets = 0
    for (const queue of this.#round) octets += Math.min(queue.available, max)
    octets = Math.min(octets, max)
    // A frame is short only when its stream or the connection has no more data or no more window.
    const frames = this.#round.length + Math.ceil(octets / FRAME_BYTES) + 1
    const bytes = new Uint8Array(this.#controlBytes + octets + frames * HEADER_BYTES)
    const end = this.#fill(bytes, this.#takeControl(bytes), max)
    return end === 0 ? undefined : bytes.subarray(0, end)
  }

  #takeControl(bytes: Uint8Array | undefined): number {
    let at = 0
    for (const frame of this.#control) {
      bytes?.set(frame, at)
      at += frame.length
    }
    this.#control = []
    this.#controlBytes = 0
    this.#room?.resolve()
    this.#room = undefined
    return at
  }

  #fill(bytes: Uint8Array, start: number, max: number): number {
    let at = start
    let left = max
    for (let passed = 0; passed < this.#round.length; ) {
      const queue = this.#round.shift()!
      if (queue.available > 0 && left === 0) {
        passed++
        this.#round.push(queue)
        continue
      }
      if (queue.isReady) {
        const length = queue.fill(bytes, at, Math.min(left, FRAME_BYTES))
        at += HEADER_BYTES + length
        left -= length
        this.window -= length
        if (length >= WORK_MIN_BYTES || queue.window > 0) this.#worked()
      }
      if (queue.isReady) this.#round.push(queue)
      else queue.isQueued = false
    }
    return at
  }
}
