// Keeps streams ready for visitors: it replaces each when it is claimed, and their number follows demand.

import { READY_SESSIONS_MAX } from '@svc/protocol'
import { jittered } from '@svc/protocol/timers'
import type { Activation, ReadyStream } from './reverse-stream.ts'

/** A site without visitors keeps this many streams ready. */
export const READY_STREAMS_MIN = 2
/** After this long without a claim, the number of streams kept ready halves. Streams that are open stay. */
export const DEMAND_HALF_LIFE_MS = 60_000
/** The SDK asks a relay that had no room for ready streams again after this. */
export const REJECTION_PAUSE_MS = 10_000
/** The SDK replaces a ready stream that the relay ended unused after this, or a random half less. */
export const REPLACEMENT_PAUSE_MS = 1_000

interface ReadyStreamsEvents {
  /**
   * Opens one stream. Resolves with undefined when the relay rejected it, and rejects when this stream alone broke: another
   * may work.
   */
  open(): Promise<ReadyStream | undefined>
  /**
   * Returns whether this many more visitors may come. No more streams than that are offered; further visitors wait at
   * the relay.
   */
  hasRoomFor(visitors: number): boolean
  /** Serves a visitor, who is counted from now on. Settles when the connection is over. */
  serve(activation: Activation): Promise<void>
  /** Called when a stream is ready: the very first, or the first since the relay rejected one while none was ready. */
  ready(): void
  /**
   * Called when the relay rejected a stream while none was ready. `again` is true unless this is the first time since
   * it accepted one.
   */
  rejected(again: boolean): void
}

/** ReadyStreams keeps reverse sessions ready, as many as visitors need, and waits for their activations. */
export class ReadyStreams {
  #events: ReadyStreamsEvents
  /** The number of streams to keep ready. */
  #target = READY_STREAMS_MIN
  #opening = 0
  #ready = new Set<ReadyStream>()
  #serving = 0
  /** The time at which a visitor last came, or the target last halved. */
  #demandAt = performance.now()
  /** The time at which the relay last had no room for another stream. */
  #rejectedAt = Number.NEGATIVE_INFINITY
  /** True when the relay accepted a stream and `ready` was called. */
  #isAccepted = false
  #rejectedBefore = false
  #replacing: ReturnType<typeof setTimeout> | undefined
  #stopped = false
  #drained = Promise.withResolvers<void>()

  constructor(events: ReadyStreamsEvents) {
    this.#events = events
  }

  get ready(): number {
    return this.#ready.size
  }

  get serving(): number {
    return this.#serving
  }

  /** Opens the streams that are missing. Called at the start, on each claim, and when there may be room. */
  fill(): void {
    while (!this.#stopped && this.#offered < this.#target && this.#events.hasRoomFor(this.#offered + 1))
      this.#open()
  }

  /**
   * Lowers the target as demand falls, and opens streams again where the relay rejected one. Called at intervals.
   * Streams beyond the target stay open for later visitors: the relay may be claiming any of them right now.
   */
  maintain(): void {
    const now = performance.now()
    const wasRejected = this.#target < READY_STREAMS_MIN || this.#rejectedBefore
    if (wasRejected && now - this.#rejectedAt >= REJECTION_PAUSE_MS) {
      this.#target = Math.max(this.#target, READY_STREAMS_MIN)
      this.fill()
    }
    if (now - this.#demandAt >= DEMAND_HALF_LIFE_MS) {
      this.#demandAt = now
      this.#target = Math.max(READY_STREAMS_MIN, Math.floor(this.#target / 2))
    }
  }

  /** Accepts no more visitors. Resolves when the last one has left. */
  drain(): Promise<void> {
    this.stop()
    this.#retireAll()
    if (this.#serving === 0) this.#drained.resolve()
    return this.#drained.promise
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#replacing)
  }

  get #offered(): number {
    return this.ready + this.#opening
  }

  #retireAll(): void {
    for (const stream of this.#ready) {
      this.#ready.delete(stream)
      stream.retire()
    }
  }

  async #open(): Promise<void> {
    this.#opening += 1
    let stream: ReadyStream | undefined
    try {
      stream = await this.#events.open()
    } catch {
      this.#replaceLater()
      return
    } finally {
      this.#opening -= 1
    }
    if (stream) await this.#wait(stream)
    else this.#rejected()
  }

  async #wait(stream: ReadyStream): Promise<void> {
    this.#ready.add(stream)
    this.#rejectedBefore = false
    if (!this.#isAccepted) {
      this.#isAccepted = true
      this.#events.ready()
    }
    if (this.#stopped) this.#retireAll()
    const activation = await stream.activation()
    const wasRetired = !this.#ready.delete(stream)
    if (activation) await this.#claimed(activation)
    else if (!wasRetired) this.#replaceLater()
  }

  /**
   * Replaces a stream after a pause: a relay that keeps breaking streams must not keep the page busy, and many
   * sites may lose their streams at once with one machine.
   */
  #replaceLater(): void {
    if (this.#stopped) return
    clearTimeout(this.#replacing)
    this.#replacing = setTimeout(() => this.fill(), jittered(REPLACEMENT_PAUSE_MS))
  }

  async #claimed(activation: Activation): Promise<void> {
    this.#serving += 1
    this.#demandAt = performance.now()
    // The last ready stream was claimed: visitors come faster than streams are replaced.
    if (this.ready === 0) this.#target = Math.min(this.#target * 2, READY_SESSIONS_MAX)
    const over = this.#events.serve(activation)
    this.fill()
    await over
    this.#serving -= 1
    if (this.#stopped && this.#serving === 0) this.#drained.resolve()
    this.fill()
  }

  /**
   * If some streams are ready, the relay's queue is full, perhaps with streams of a dead carrier, and the ready ones must
   * do.
   */
  #rejected(): void {
    if (this.#stopped) return
    this.#rejectedAt = performance.now()
    if (this.ready > 0) this.#target = this.ready
    else if (this.#opening === 0) {
      const again = this.#rejectedBefore
      this.#rejectedBefore = true
      this.#isAccepted = false
      this.#events.rejected(again)
    }
  }
}
