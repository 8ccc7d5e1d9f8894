// An HTTP/2 server on one connection (RFC 9113), from the preface to GOAWAY. It limits all known floods.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { DeadlineWriter } from '../exchange/deadline-writer.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import { HpackEncoder } from '../hpack/encoder.ts'
import { HpackError } from '../hpack/error.ts'
import type { Field } from '../semantics/fields.ts'
import { HEAD_DEADLINE_MS, IDLE_MS, LINGER_MS } from '../semantics/limits.ts'
import { Deadline } from '../timers/deadline.ts'
import { TokenBucket } from '../timers/token-bucket.ts'
import { Http2Error, type Http2ErrorCode } from './errors.ts'
import {
  ACK,
  encodeFrame,
  encodeGoAway,
  encodeHeaders,
  encodeNumber,
  type Frame,
  MAX_31_BITS,
  PING,
  SETTINGS,
  WINDOW_UPDATE,
} from './frame.ts'
import { FrameHandler } from './frame-handler.ts'
import { FrameReader } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { HeaderList } from './header-list.ts'
import {
  CONNECTION_WINDOW_BYTES,
  CONNECTION_WINDOW_MAX_BYTES,
  IDLE_FRAMES_BURST,
  IDLE_FRAMES_PER_SECOND,
  IDLE_FRAMES_PER_WORK,
  RESETS_BURST,
  RESETS_PER_SECOND,
} from './limits.ts'
import { ReceiveWindow } from './receive-window.ts'
import { INITIAL_WINDOW_BYTES, OUR_SETTINGS, type VisitorSettings } from './settings.ts'
import { Streams } from './streams.ts'

/** Serves one connection. Resolves when it is over, and never rejects because of the visitor. */
export async function serveHttp2(stream: ByteStream, options: HttpOptions): Promise<void> {
  await new Connection(stream, options).run()
}

class Connection {
  readonly #stream: ByteStream
  readonly #closing: AbortSignal | undefined
  readonly #activity: HttpOptions['activity']
  readonly #frames = new FrameReader()
  readonly #frameHandler: FrameHandler
  readonly #decoder = new HpackDecoder()
  readonly #encoder = new HpackEncoder()
  readonly #writer: DeadlineWriter
  readonly #frameWriter: FrameWriter
  readonly #streams: Streams
  readonly #deadline = new Deadline(() => this.#late())
  readonly #resets = new TokenBucket(RESETS_BURST, RESETS_PER_SECOND)
  readonly #idleFrames = new TokenBucket(IDLE_FRAMES_BURST, IDLE_FRAMES_PER_SECOND)
  /** The receive window of the whole connection. */
  readonly #window = new ReceiveWindow(CONNECTION_WINDOW_BYTES, CONNECTION_WINDOW_MAX_BYTES)
  /** True when one side announced that there will be no more streams. */
  #isLeaving = false
  #isBroken = false
  #isOver = false
  #awaited: 'head' | 'request' | undefined
  /** Resolves when only the shutdown is left. */
  readonly #over = Promise.withResolvers<void>()

  constructor(stream: ByteStream, options: HttpOptions) {
    this.#stream = stream
    this.#closing = options.closing
    this.#activity = options.activity
    this.#writer = new DeadlineWriter(stream, (error) => this.#break(error))
    this.#frameWriter = new FrameWriter(this.#writer, () => this.#idleFrames.refill(IDLE_FRAMES_PER_WORK))
    const transport = {
      control: (frame: Uint8Array) => this.#frameWriter.control(frame),
      data: this.#frameWriter.data.bind(this.#frameWriter),
      headers: (id: number, fields: readonly Field[], isEnd: boolean) =>
        this.#frameWriter.control(encodeHeaders(id, this.#encoder.encode(fields), isEnd)),
      consumed: (bytes: number, hasWaited: boolean) => this.#credit(bytes, hasWaited),
      creditAll: () => this.#open(this.#window.giveAll()),
    }
    const visitor = { ...options.visitor, httpVersion: '2' as const }
    this.#streams = new Streams({ ...options, visitor }, transport, (isWhole) => this.#streamEnded(isWhole))
    this.#frameHandler = new FrameHandler({
      data: (id, data, size, isEnd) => this.#data(id, data, size, isEnd),
      headers: (id, block, isEnd, isSelfDependent) => this.#headers(id, block, isEnd, isSelfDependent),
      reset: (id) => this.#reset(id),
      settings: (settings) => this.#settings(settings),
      ping: (payload) => this.#frameWriter.control(encodeFrame(PING, ACK, 0, payload)),
      goAway: () => this.#leave(),
      windowUpdate: (id, increment) => this.#windowUpdate(id, increment),
      idle: () => this.#spend(this.#idleFrames, 'too_many_frames'),
    })
  }

  async run(): Promise<void> {
    const goAway = (): void => this.#goAway()
    this.#frameWriter.control(OUR_SETTINGS)
    this.#frameWriter.control(encodeNumber(WINDOW_UPDATE, 0, CONNECTION_WINDOW_BYTES - INITIAL_WINDOW_BYTES))
    this.#watch()
    const received = this.#receive()
    this.#closing?.addEventListener('abort', goAway)
    if (this.#closing?.aborted) goAway()
    await this.#over.promise
    this.#closing?.removeEventListener('abort', goAway)
    await this.#end(received)
  }

  /**
   * Reads until the visitor's end, even after the SDK's own: unread bytes could reset the connection before the last
   * frames arrive.
   */
  async #receive(): Promise<void> {
    try {
      for (let bytes = await this.#stream.read(); bytes; bytes = await this.#stream.read()) {
        if (this.#isOver) continue
        this.#accept(bytes)
        await this.#frameWriter.hasRoom()
      }
      this.#visitorEnded()
    } catch (error) {
      this.#break(error)
    }
  }

  #accept(bytes: Uint8Array): void {
    try {
      this.#frames.push(bytes)
      for (let frame = this.#frames.next(); frame && !this.#isOver; frame = this.#frames.next())
        this.#acceptFrame(frame)
      this.#watch()
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error
      this.#fail(error)
    }
  }

  /** @throws Http2Error of the connection */
  #acceptFrame(frame: Frame): void {
    try {
      this.#frameHandler.accept(frame)
    } catch (error) {
      if (!(error instanceof Http2Error) || error.streamId === undefined) throw error
      this.#spend(this.#resets, 'too_many_resets')
      this.#streams.fail(error, error.streamId)
    }
  }

  #data(id: number, data: Uint8Array, size: number, isEnd: boolean): void {
    if (data.length === 0 && !isEnd) this.#spend(this.#idleFrames, 'too_many_frames')
    if (!this.#window.take(size)) throw new Http2Error('window_exceeded')
    let isRead = false
    try {
      isRead = this.#streams.data(id, data, size, isEnd)
    } finally {
      if (!isRead) this.#credit(size, false)
    }
  }

  /** Decodes every block, even of refused streams, because the next block depends on it (§4.3). */
  #headers(id: number, block: Uint8Array, isEnd: boolean, isSelfDependent: boolean): void {
    const list = new HeaderList()
    try {
      this.#decoder.decode(block, (name, value) => list.add(name, value))
    } catch (error) {
      throw error instanceof HpackError ? new Http2Error('invalid_compression') : error
    }
    this.#streams.headers(id, list, isEnd, isSelfDependent)
  }

  #reset(id: number): void {
    if (this.#streams.reset(id)) this.#spend(this.#resets, 'too_many_resets')
    else this.#spend(this.#idleFrames, 'too_many_frames')
  }

  #settings({ headerTableSize, initialWindowSize }: VisitorSettings): void {
    if (headerTableSize !== undefined) this.#encoder.resize(headerTableSize)
    if (initialWindowSize !== undefined) this.#streams.resize(initialWindowSize)
    this.#frameWriter.control(encodeFrame(SETTINGS, ACK, 0, []))
  }

  #windowUpdate(id: number, increment: number): void {
    if (id !== 0) this.#streams.windowUpdate(id, increment)
    else if (this.#frameWriter.window + increment > MAX_31_BITS) throw new Http2Error('window_overflow')
    else this.#frameWriter.opened(increment)
  }

  #credit(bytes: number, hasWaited: boolean): void {
    this.#open(this.#window.give(bytes, hasWaited))
  }

  /** Enlarges the visitor's window of the connection. */
  #open(increment: number): void {
    if (increment > 0) this.#frameWriter.control(encodeNumber(WINDOW_UPDATE, 0, increment))
  }

  /** @throws Http2Error `code` when the bucket is empty */
  #spend(bucket: TokenBucket, code: Http2ErrorCode): void {
    if (!bucket.take()) throw new Http2Error(code)
  }

  #streamEnded(isWhole: boolean): void {
    if (isWhole) {
      this.#resets.refill(1)
      this.#idleFrames.refill(IDLE_FRAMES_PER_WORK)
    }
    if (this.#isLeaving) this.#leave()
    else this.#watch()
  }

  #visitorEnded(): void {
    if (this.#isOver) return
    this.#writer.halfClosed()
    this.#streams.left()
    this.#leave()
  }

  /** Sends GOAWAY (§6.8). Open streams finish; the visitor uses another connection for everything else. */
  #goAway(): void {
    if (this.#isOver) return
    this.#tell(new Http2Error('closing'))
    this.#streams.isClosed = true
    this.#leave()
  }

  #tell({ wireCode }: Http2Error): void {
    this.#frameWriter.control(encodeGoAway(this.#streams.lastId, wireCode))
  }

  #leave(): void {
    this.#isLeaving = true
    if (this.#streams.size === 0) this.#finish()
  }

  /** Sends a connection error to the visitor (§5.4.1), and aborts its requests. */
  #fail(error: Http2Error): void {
    if (this.#isOver) return
    this.#tell(error)
    this.#finish()
    this.#streams.break(error)
  }

  /** Ends both directions at once. */
  #break(error: unknown): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#finish()
    this.#writer.fail(error)
    this.#stream.abort(error)
    this.#streams.break(error)
  }

  #finish(): void {
    this.#isOver = true
    this.#deadline.close()
    this.#over.resolve()
  }

  /**
   * Ends the SDK's direction, then waits with a deadline for the visitor's, as HTTP/1.1 does.
   * @param received settles with the visitor's end
   */
  async #end(received: Promise<void>): Promise<void> {
    await this.#frameWriter.drained()
    const closed = new Error('the connection is closed')
    const linger = setTimeout(() => this.#break(closed), LINGER_MS)
    await this.#writer.end().catch((error) => this.#break(error))
    await received
    clearTimeout(linger)
    this.#writer.fail(closed)
  }

  /** Sets the one deadline: for a preface or a header block that has begun, or for the next request. */
  #watch(): void {
    if (this.#isOver) return
    const isInHead = this.#frameHandler.isInBlock || !this.#frames.hasBegun
    const awaited = isInHead ? 'head' : this.#streams.size === 0 ? 'request' : undefined
    this.#activity?.(this.#streams.size > 0 ? 'busy' : isInHead ? 'beginning' : 'idle')
    if (awaited === this.#awaited) return
    this.#awaited = awaited
    if (!awaited) this.#deadline.clear()
    else this.#deadline.set(performance.now() + (isInHead ? HEAD_DEADLINE_MS : IDLE_MS))
  }

  #late(): void {
    if (this.#awaited === 'head') this.#fail(new Http2Error('header_block_timeout'))
    else this.#goAway()
  }
}
