// A session: many streams over one transport, in the wire format of hashicorp's yamux.

import { AcceptBacklog } from './accept-backlog.ts'
import { ControlQueue } from './control-queue.ts'
import { Deadlines } from './deadlines.ts'
import { GO_AWAY, internalError, peerGoingAway, protocolError, sessionClosed, YamuxError } from './errors.ts'
import { FLAG, type FrameHeader, type FrameType, SESSION_ID, TYPE } from './frame.ts'
import { FrameParser } from './frame-parser.ts'
import { Keepalive } from './keepalive.ts'
import { type SessionOptions, type Settings, settingsOf } from './options.ts'
import { ReceiveWindow, WindowBudget } from './receive-window.ts'
import { Scheduler } from './scheduler.ts'
import type { MemoryMeter, Transport } from './session-owner.ts'
import { Stream } from './stream.ts'
import { type StreamHost, StreamState } from './stream-state.ts'

/**
 * Session is one yamux session over a message transport: it opens streams, accepts those of the peer, and keeps the
 * connection alive.
 */
export class Session {
  /**
   * Resolves with undefined after {@link close} or a normal end by the peer, and otherwise with the error that ended the
   * session. Never rejects.
   */
  readonly closed: Promise<YamuxError | undefined>
  readonly #resolveClosed: (reason: YamuxError | undefined) => void
  readonly #transport: Transport
  readonly #settings: Settings
  readonly #onStream: ((stream: Stream) => void) | undefined
  readonly #parser: FrameParser
  readonly #control: ControlQueue
  readonly #scheduler: Scheduler
  readonly #keepalive: Keepalive
  readonly #backlog: AcceptBacklog
  readonly #memory: MemoryMeter | undefined
  readonly #sharedInput: boolean
  readonly #budget: WindowBudget
  readonly #unacknowledged: Deadlines<StreamState>
  readonly #halfClosed: Deadlines<StreamState>
  readonly #host: StreamHost
  readonly #streams = new Map<number, StreamState>()
  /** The stream of the last frame, whose payload may follow. Undefined when the payload must be skipped. */
  #receiving: StreamState | undefined
  #nextId: number
  #goAwaySent = false
  #goAwayReceived = false
  #over = false
  #reason: YamuxError | undefined

  constructor(transport: Transport, options: SessionOptions) {
    const settings = settingsOf(options)
    const { promise, resolve } = Promise.withResolvers<YamuxError | undefined>()
    this.closed = promise
    this.#resolveClosed = resolve
    this.#transport = transport
    this.#settings = settings
    this.#onStream = options.onStream
    this.#nextId = options.role === 'client' ? 1 : 2
    this.#parser = new FrameParser({
      onHeader: (header) => this.#onHeader(header),
      onPayload: (bytes, last) => this.#receiving?.onPayload(bytes, last),
    })
    this.#control = new ControlQueue(settings.maxStreams)
    this.#scheduler = new Scheduler(transport, this.#control, (cause) => this.#onTransportFailure(cause))
    this.#keepalive = new Keepalive(
      settings,
      (id) => this.#sendControl(TYPE.ping, FLAG.syn, SESSION_ID, id),
      (cause) => this.#shutDown(new YamuxError('keepalive_timeout', 'the peer is silent', { cause })),
    )
    this.#backlog = new AcceptBacklog(settings.acceptBacklog)
    this.#memory = options.memory
    this.#sharedInput = options.sharedInput ?? false
    this.#budget = new WindowBudget(settings.windowBudgetBytes, options.memory)
    this.#unacknowledged = new Deadlines(settings.openTimeoutMs, (state) =>
      state.reset(new YamuxError('open_timeout', `stream ${state.id} was not accepted in time`)),
    )
    this.#halfClosed = new Deadlines(settings.closeTimeoutMs, (state) =>
      state.reset(new YamuxError('close_timeout', `stream ${state.id} was not ended in time`)),
    )
    this.#host = this.#streamHost()
  }

  /** The last measured round trip, in milliseconds. */
  get rtt(): number | undefined {
    return this.#keepalive.rtt
  }

  /** True when the peer announced that it accepts no more streams; open ones may finish. */
  get isPeerGoingAway(): boolean {
    return this.#goAwayReceived
  }

  /** The number of open streams, in both directions. */
  get streamCount(): number {
    return this.#streams.size
  }

  /**
   * Processes bytes from the transport, in any chunking, and owns them, unless the option `sharedInput` is
   * set: readers get views of them. It never throws: a peer that violates the protocol gets GoAway(1), and the transport is closed.
   */
  receive(bytes: Uint8Array): void {
    if (this.#over) return
    this.#keepalive.onBytes()
    try {
      // Makes a plain view: a Node Buffer is a Uint8Array with different `slice` and `subarray`.
      this.#parser.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    } catch (cause) {
      this.#shutDown(cause instanceof YamuxError ? cause : internalError(cause))
    }
  }

  /**
   * Ends the session because the transport is gone. Every stream fails, except that bytes of complete ones can still be
   * read.
   */
  transportClosed(cause?: unknown): void {
    const inOrder =
      cause === undefined && (this.#goAwaySent || this.#goAwayReceived) && this.#streams.size === 0
    this.#end(inOrder ? undefined : new YamuxError('transport_closed', 'the transport was closed', { cause }))
  }

  /**
   * Opens a stream. It does not wait for the peer's ACK, unless a whole backlog of streams does. A refusal fails the
   * stream later.
   * @throws YamuxError when the session accepts no more streams; the signal's reason when aborted
   */
  async open(options: { signal?: AbortSignal | undefined } = {}): Promise<Stream> {
    this.#assertOpen()
    await this.#backlog.acquire(options.signal)
    try {
      options.signal?.throwIfAborted()
      this.#assertOpen()
    } catch (error) {
      this.#backlog.release()
      throw error
    }
    const state = this.#addStream(this.#nextId, 'us')
    this.#nextId += 2
    this.#unacknowledged.set(state)
    state.announce()
    return new Stream(state)
  }

  /**
   * Pings the peer.
   * @returns the round-trip time in milliseconds
   * @throws YamuxError
   */
  async ping(): Promise<number> {
    if (this.#over) throw sessionClosed(this.#reason)
    return this.#keepalive.ping()
  }

  /**
   * Resets the streams that hold the most until `bytes` are free.
   * @returns the number of bytes freed
   */
  shed(bytes: number): number {
    const states = [...this.#streams.values()].filter(({ held }) => held > 0)
    states.sort((one, other) => other.held - one.held)
    let freed = 0
    for (const state of states) {
      if (freed >= bytes) break
      freed += state.held
      state.reset(new YamuxError('memory_exceeded', `stream ${state.id} held too much`))
    }
    return freed
  }

  /** Refuses new streams, in both directions. The existing ones finish, and the session closes after the last. */
  goAway(): void {
    if (this.#over || this.#goAwaySent) return
    this.#goAwaySent = true
    this.#sendControl(TYPE.goAway, 0, SESSION_ID, GO_AWAY.normal)
    this.#closeWhenIdle()
  }

  /**
   * Closes session and transport now. Every stream fails.
   * @param code the code of the GoAway for the peer: 0 for a normal end, or one that both sides agreed on
   */
  close(code: number = GO_AWAY.normal): void {
    this.#shutDown(undefined, code)
  }

  #onHeader(header: FrameHeader): void {
    if (header.type === TYPE.ping) this.#onPing(header)
    else if (header.type === TYPE.goAway) this.#onGoAway(header.length)
    else this.#onStreamHeader(header)
  }

  #onPing({ flags, length }: FrameHeader): void {
    if ((flags & FLAG.syn) === 0) {
      this.#keepalive.onPong(length)
    } else {
      this.#control.pushPong(length)
      this.#scheduler.wake()
    }
  }

  #onGoAway(code: number): void {
    if (code === GO_AWAY.normal) {
      this.#goAwayReceived = true
      this.#backlog.fail(peerGoingAway())
    } else {
      this.#end(new YamuxError('peer_error', `the peer went away with code ${code}`, { goAwayCode: code }))
      this.#closeTransport()
    }
  }

  #onStreamHeader(header: FrameHeader): void {
    if (header.streamId === SESSION_ID) throw protocolError('bad_stream_id', 'stream frame for stream 0')
    if ((header.flags & FLAG.syn) !== 0) this.#onSyn(header.streamId)
    // Frames for a closed stream are late, or follow an RST of this side: skip them with their payload.
    this.#receiving = this.#streams.get(header.streamId)
    this.#receiving?.onHeader(header)
  }

  #onSyn(id: number): void {
    if (id % 2 === this.#nextId % 2)
      throw protocolError('bad_stream_id', `the peer opened stream ${id}, one of ours`)
    if (this.#streams.has(id)) throw protocolError('duplicate_stream', `stream ${id} was opened twice`)
    const onStream = this.#onStream
    if (onStream === undefined || !this.#accepts()) {
      this.#sendControl(TYPE.windowUpdate, FLAG.rst, id, 0)
      return
    }
    const state = this.#addStream(id, 'peer')
    state.announce()
    try {
      onStream(new Stream(state))
    } catch (error) {
      // Reports the error like an event target: the stream is lost, but not the session.
      state.reset(new YamuxError('stream_aborted', 'the stream handler threw', { cause: error }))
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #accepts(): boolean {
    return (
      !this.#goAwaySent &&
      this.#control.unsentAcks < this.#settings.acceptBacklog &&
      this.#streams.size < this.#settings.maxStreams
    )
  }

  #assertOpen(): void {
    if (this.#over) throw sessionClosed(this.#reason)
    if (this.#goAwayReceived) throw peerGoingAway()
    if (this.#goAwaySent) throw new YamuxError('going_away', 'no more streams')
    if (this.#nextId > this.#settings.maxStreamId)
      throw new YamuxError('ids_exhausted', 'no stream ids are left')
    if (this.#streams.size >= this.#settings.maxStreams)
      throw new YamuxError('too_many_streams', `this session has ${this.#streams.size} streams already`)
  }

  #addStream(id: number, openedBy: 'us' | 'peer'): StreamState {
    const { windowBytes, maxWindowBytes } = this.#settings
    const window = new ReceiveWindow(windowBytes, maxWindowBytes, this.#budget)
    const state = new StreamState(id, window, this.#host, openedBy)
    this.#streams.set(id, state)
    return state
  }

  #streamHost(): StreamHost {
    const [keepalive, memory] = [this.#keepalive, this.#memory]
    return {
      sharedInput: this.#sharedInput,
      hold: (bytes) => memory?.hold(bytes),
      get rtt() {
        return keepalive.rtt
      },
      onBulk: () => {
        // Without an answer, windows do not grow, and the next call tries again.
        if (keepalive.rtt === undefined) keepalive.ping().catch(() => {})
      },
      sendControl: (type, flags, id, length) => this.#sendControl(type, flags, id, length),
      ready: (source) => this.#scheduler.ready(source),
      flush: (source) => this.#scheduler.flush(source),
      drop: (source) => this.#scheduler.drop(source),
      onAcknowledged: (state) => this.#onAcknowledged(state),
      onHalfClosed: (state) => this.#halfClosed.set(state),
      onOver: (state) => this.#onOver(state),
    }
  }

  #onAcknowledged(state: StreamState): void {
    this.#unacknowledged.delete(state)
    this.#backlog.release()
  }

  #onOver(state: StreamState): void {
    if (!state.acknowledged) this.#onAcknowledged(state)
    this.#halfClosed.delete(state)
    this.#streams.delete(state.id)
    // Deferred, because the stream's FIN may be in a message that is still being built.
    if (this.#goAwaySent) queueMicrotask(() => this.#closeWhenIdle())
  }

  #closeWhenIdle(): void {
    if (this.#streams.size === 0) this.close()
  }

  #sendControl(type: FrameType, flags: number, streamId: number, length: number): void {
    if (this.#over) return
    if (this.#control.full) {
      this.#shutDown(protocolError('control_flood', 'the peer reads no answers'))
    } else {
      this.#control.push(type, flags, streamId, length)
      this.#scheduler.wake()
    }
  }

  #onTransportFailure(cause: unknown): void {
    if (this.#over) return
    this.#end(new YamuxError('transport_closed', 'the transport failed', { cause }))
    this.#closeTransport()
  }

  /** Sends GoAway, with the code of the reason unless another is given, and closes the transport. */
  #shutDown(reason: YamuxError | undefined, code: number = reason?.goAwayCode ?? GO_AWAY.normal): void {
    if (this.#over) return
    this.#end(reason)
    if (reason !== undefined || code !== GO_AWAY.normal || !this.#goAwaySent)
      this.#control.push(TYPE.goAway, 0, SESSION_ID, code)
    this.#scheduler.finish()
    this.#closeTransport()
  }

  #end(reason: YamuxError | undefined): void {
    if (this.#over) return
    this.#over = true
    this.#reason = reason
    const error = reason ?? sessionClosed()
    this.#parser.stop()
    this.#scheduler.stop()
    this.#keepalive.stop(error)
    this.#backlog.fail(error)
    for (const state of this.#streams.values()) state.abandon(error)
    this.#unacknowledged.clear()
    this.#halfClosed.clear()
    this.#resolveClosed(reason)
  }

  #closeTransport(): void {
    try {
      this.#transport.close()
    } catch {
      // The transport counts as closed.
    }
  }
}
