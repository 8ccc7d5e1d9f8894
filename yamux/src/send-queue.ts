// Holds the uncopied writes of a stream until the peer gives credit and the scheduler sends them.

import { protocolError, YamuxError } from './errors.ts'
import { FLAG, HEADER_BYTES, TYPE, writeHeader } from './frame.ts'
import { INITIAL_WINDOW_BYTES, SLICE_MAX_BYTES, WINDOW_MAX_BYTES } from './limits.ts'
import type { FrameSource } from './scheduler.ts'

interface PendingWrite extends PromiseWithResolvers<void> {
  readonly bytes: Uint8Array
  sent: number
}

export class SendQueue implements FrameSource {
  readonly #streamId: number
  readonly #onEnd: () => void
  readonly #hold: (bytes: number) => void
  #window = INITIAL_WINDOW_BYTES
  readonly #writes: PendingWrite[] = []
  #queuedBytes = 0
  #end: PromiseWithResolvers<void> | undefined
  #ended = false
  #error: YamuxError | undefined

  /**
   * @param onEnd called when the FIN is written
   * @param hold called with the change of the number of waiting bytes
   */
  constructor(streamId: number, onEnd: () => void, hold: (bytes: number) => void) {
    this.#streamId = streamId
    this.#onEnd = onEnd
    this.#hold = hold
  }

  /** The number of written and unsent bytes. */
  get bytes(): number {
    return this.#queuedBytes
  }

  /** True when the FIN was written: nothing follows. */
  get ended(): boolean {
    return this.#ended
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#end !== undefined)
      return Promise.reject(new YamuxError('stream_ended', 'write to a stream that was ended'))
    if (bytes.length === 0) return Promise.resolve()
    const write = { bytes, sent: 0, ...Promise.withResolvers<void>() }
    this.#writes.push(write)
    this.#queuedBytes += bytes.length
    this.#hold(bytes.length)
    return write.promise
  }

  /**
   * Offers bytes to the scheduler for as long as `flush` runs.
   * @returns the number of bytes sent, from the start
   */
  writeNow(bytes: Uint8Array, flush: () => void): number {
    if (this.#error !== undefined || this.#end !== undefined || this.#writes.length > 0) return 0
    const offered = bytes.subarray(0, this.#window)
    if (offered.length === 0) return 0
    this.write(offered).catch(() => {})
    flush()
    const [write] = this.#writes
    if (write === undefined) return this.#error === undefined ? offered.length : 0
    this.#writes.length = 0
    this.#queuedBytes = 0
    this.#hold(write.sent - offered.length)
    write.resolve()
    return write.sent
  }

  end(): Promise<void> {
    if (this.#end !== undefined) return this.#end.promise
    if (this.#error !== undefined) return Promise.reject(this.#error)
    this.#end = Promise.withResolvers<void>()
    return this.#end.promise
  }

  /**
   * Adds credit from the peer.
   * @throws YamuxError when the window would no longer fit 32 bits
   */
  credit(bytes: number): void {
    this.#window += bytes
    if (this.#window > WINDOW_MAX_BYTES)
      throw protocolError('window_overflow', `send window of stream ${this.#streamId} exceeds 2^32 - 1`)
  }

  fail(error: YamuxError): void {
    this.#error = error
    for (const write of this.#writes.splice(0)) write.reject(error)
    this.#hold(-this.#queuedBytes)
    this.#queuedBytes = 0
    this.#end?.reject(error)
  }

  get wireBytes(): number {
    const payload = Math.min(this.#queuedBytes, this.#window)
    const headers = Math.ceil(payload / SLICE_MAX_BYTES) * HEADER_BYTES
    return payload + headers + (this.#endsAfter(payload) ? HEADER_BYTES : 0)
  }

  fill(message: Uint8Array, at: number, max: number): number {
    const room = message.length - at - HEADER_BYTES
    const payload = Math.min(this.#queuedBytes, this.#window, max, room)
    if (payload > 0) {
      writeHeader(message, at, TYPE.data, 0, this.#streamId, payload)
      this.#moveInto(message, at + HEADER_BYTES, payload)
      return at + HEADER_BYTES + payload
    }
    if (room < 0 || !this.#endsAfter(0)) return at
    // The FIN has a separate frame, as in hashicorp's implementation: @libp2p/yamux loses the payload of a data frame with FIN.
    writeHeader(message, at, TYPE.windowUpdate, FLAG.fin, this.#streamId, 0)
    this.#ended = true
    this.#end?.resolve()
    this.#onEnd()
    return at + HEADER_BYTES
  }

  #endsAfter(payload: number): boolean {
    return (
      this.#end !== undefined && !this.#ended && this.#error === undefined && payload === this.#queuedBytes
    )
  }

  #moveInto(message: Uint8Array, at: number, length: number): void {
    this.#window -= length
    this.#queuedBytes -= length
    this.#hold(-length)
    let done = 0
    let left = length
    while (left > 0) {
      const write = this.#writes[done]!
      const part = write.bytes.subarray(write.sent, write.sent + left)
      message.set(part, at + length - left)
      write.sent += part.length
      left -= part.length
      if (write.sent < write.bytes.length) break
      write.resolve()
      done++
    }
    this.#writes.splice(0, done)
  }
}
