// HTTP/2 with one target: requests share sessions, which are opened on demand and closed when idle.

import { type ClientHttp2Session, connect } from 'node:http2'
import { TLSSocket } from 'node:tls'
import { HEAD_BYTES } from '@svc/sdk-core/http1'
import { TARGET_CONNECT_DEADLINE_MS } from '../net/deadlines.ts'
import { TARGET_IDLE_MS } from './connection-pool.ts'
import { RESPONSE_FIELDS_MAX } from './response-head.ts'
import type { TargetDialer } from './target-dialer.ts'
import { AnswerError } from './target-fault.ts'

/** The most streams of one HTTP/2 connection to a local server, even if it allows more: servers' usual limit. */
const HTTP2_STREAMS_MAX = 100
/** The window of a response over HTTP/2 from a local server, in bytes. */
const HTTP2_STREAM_WINDOW_BYTES = 256 * 1024
/** The memory limit of one HTTP/2 connection to a local server, in megabytes: the windows of all its streams, and as much to send. */
const HTTP2_MEMORY_MAX_MB = 64

/** The windows of all streams of a session, in bytes. */
const SESSION_WINDOW_BYTES = HTTP2_STREAM_WINDOW_BYTES * HTTP2_STREAMS_MAX

/** An Http2Session counts the streams of a session. */
export class Http2Session {
  readonly session: ClientHttp2Session
  #streams = 0
  #isLeaving = false

  /** @param session a session whose target has sent its settings */
  constructor(session: ClientHttp2Session) {
    this.session = session
    session.setTimeout(TARGET_IDLE_MS, () => {
      if (this.#streams === 0) session.close()
    })
    session.on('goaway', () => {
      this.#isLeaving = true
    })
    session.unref()
  }

  /** True when no more streams can be opened. */
  get isOver(): boolean {
    return this.#isLeaving || this.session.closed || this.session.destroyed
  }

  /** The most concurrent streams that the target allows. */
  get capacity(): number {
    return Math.min(HTTP2_STREAMS_MAX, this.session.remoteSettings.maxConcurrentStreams ?? HTTP2_STREAMS_MAX)
  }

  get hasRoom(): boolean {
    return !this.isOver && this.#streams < this.capacity
  }

  /** Counts one more stream. */
  hold(): void {
    if (this.#streams === 0) this.session.ref()
    this.#streams += 1
  }

  /** Counts one stream fewer. */
  release(): void {
    this.#streams -= 1
    if (this.#streams === 0) this.session.unref()
  }
}

export class Http2Sessions {
  readonly dialer: TargetDialer
  readonly #origin: string
  #open: Http2Session[] = []
  #opening: Promise<Http2Session> | undefined

  /** @param origin the target's origin, for the session; each request has its own authority */
  constructor(dialer: TargetDialer, origin: string) {
    this.dialer = dialer
    this.#origin = origin
  }

  /**
   * Resolves with a session on which the stream is already counted; the caller must release it.
   * @throws AnswerError when the target does not speak HTTP/2
   * @throws the error of the connection
   */
  async take(): Promise<Http2Session> {
    for (;;) {
      let found = this.#open.find(({ hasRoom }) => hasRoom)
      if (!found) {
        this.#opening ??= this.#connect().finally(() => {
          this.#opening = undefined
        })
        const opened = await this.#opening
        // A session without capacity fails the request, rather than being retried forever.
        if (opened.hasRoom || opened.isOver || opened.capacity === 0) found = opened
      }
      if (!found) continue
      found.hold()
      return found
    }
  }

  async #connect(): Promise<Http2Session> {
    const socket = await this.dialer.connect('h2', () => {})
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      socket.destroy()
      throw new AnswerError('does not speak HTTP/2')
    }
    const session = connect(this.#origin, {
      createConnection: () => socket,
      maxSessionMemory: HTTP2_MEMORY_MAX_MB,
      maxHeaderListPairs: RESPONSE_FIELDS_MAX,
      settings: {
        enablePush: false,
        initialWindowSize: HTTP2_STREAM_WINDOW_BYTES,
        maxHeaderListSize: HEAD_BYTES,
      },
    })
    await settled(session)
    session.setLocalWindowSize(SESSION_WINDOW_BYTES)
    const opened = new Http2Session(session)
    this.#open.push(opened)
    session.on('close', () => {
      this.#open = this.#open.filter((one) => one !== opened)
    })
    return opened
  }
}

/** Waits for the target's settings: an HTTP/1.1 server answers the preface with something else (RFC 9113 §3.4). */
async function settled(session: ClientHttp2Session): Promise<void> {
  let failure: unknown
  // Without an error listener, a session's error would end the process.
  session.on('error', (error) => {
    failure ??= error
  })
  await new Promise<void>((resolve, reject) => {
    const refuse = (): void => reject(new AnswerError('does not speak HTTP/2', { cause: failure }))
    const late = setTimeout(() => session.destroy(), TARGET_CONNECT_DEADLINE_MS)
    session.once('remoteSettings', () => resolve())
    session.once('close', refuse)
    session.once('remoteSettings', () => session.off('close', refuse))
    session.once('close', () => clearTimeout(late))
    session.once('remoteSettings', () => clearTimeout(late))
  })
}
