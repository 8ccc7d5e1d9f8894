// Keeps streams ready for visitors: the next one is opened the moment one is claimed, and their number follows demand.

import { READY_SESSIONS_MAX } from '@svc/protocol'
import { CONNECTIONS_MAX, DEMAND_HALF_LIFE_MS, READY_STREAMS_MIN, REPLACEMENT_PAUSE_MS } from '../limits.ts'
import type { Activation, ReadyStream } from './reverse-stream.ts'

interface ReadyStreamsEvents {
  /** Opens one stream; undefined when the relay rejected it. */
  open(): Promise<ReadyStream | undefined>
  /** Serves a visitor; settles when the connection is over. */
  serve(activation: Activation): Promise<void>
  /** The first stream is ready. Called once. */
  ready(): void
  /** The relay rejected a stream while none was ready, for the first time or again since it accepted one. */
  rejected(again: boolean): void
  /** No stream can be opened on this carrier any more. */
  failed(error: unknown): void
}

export class ReadyStreams {
  #events: ReadyStreamsEvents
  /** How many streams are to be ready. */
  #target = READY_STREAMS_MIN
  #opening = 0
  #ready = 0
  #serving = 0
  #lastClaimAt = Date.now()
  #announced = false
  #rejectedBefore = false
  #replacing: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  constructor(events: ReadyStreamsEvents) {
    this.#events = events
  }

  /** Opens what is missing. Called at the start, on each claim, and whenever something may have changed. */
  fill(): void {
    while (!this.#stopped && this.#ready + this.#opening < this.#target && this.#load() < CONNECTIONS_MAX)
      this.#open()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#replacing)
  }

  #load(): number {
    return this.#opening + this.#ready + this.#serving
  }

  async #open(): Promise<void> {
    this.#opening += 1
    let stream: ReadyStream | undefined
    try {
      stream = await this.#events.open()
    } catch (error) {
      if (!this.#stopped) this.#events.failed(error)
      return
    } finally {
      this.#opening -= 1
    }
    if (stream) await this.#wait(stream)
    else this.#rejected()
  }

  async #wait(stream: ReadyStream): Promise<void> {
    this.#ready += 1
    this.#rejectedBefore = false
    if (!this.#announced) {
      this.#announced = true
      this.#events.ready()
    }
    const activation = await stream.activation()
    this.#ready -= 1
    if (activation) await this.#claimed(activation)
    else this.#replaceLater()
  }

  /** A relay that ends streams as fast as they come must not keep the page busy. */
  #replaceLater(): void {
    if (this.#stopped) return
    clearTimeout(this.#replacing)
    this.#replacing = setTimeout(() => this.fill(), REPLACEMENT_PAUSE_MS)
  }

  async #claimed(activation: Activation): Promise<void> {
    this.#serving += 1
    this.#forgetDemand()
    this.#lastClaimAt = Date.now()
    // the last ready one was taken: visitors come faster than streams are replaced
    if (this.#ready === 0) this.#target = Math.min(this.#target * 2, READY_SESSIONS_MAX)
    this.fill()
    await this.#events.serve(activation)
    this.#serving -= 1
    this.fill()
  }

  /** With some ready, the relay's queue is full, perhaps of a dead carrier's streams: what is there must do. */
  #rejected(): void {
    if (this.#stopped) return
    if (this.#ready > 0) this.#target = this.#ready
    else if (this.#opening === 0) {
      const again = this.#rejectedBefore
      this.#rejectedBefore = true
      this.#events.rejected(again)
    }
  }

  /** Surplus streams are not closed, for that would race a claim: they are just not replaced. */
  #forgetDemand(): void {
    const halfLives = Math.floor((Date.now() - this.#lastClaimAt) / DEMAND_HALF_LIFE_MS)
    this.#target = Math.max(READY_STREAMS_MIN, Math.floor(this.#target / 2 ** Math.max(halfLives, 0)))
  }
}
