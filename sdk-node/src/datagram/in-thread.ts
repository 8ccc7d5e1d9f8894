// The WASM client of the QUIC library, for platforms that it has no native binary for: in a thread, behind the same interface.

import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { DATAGRAM_ALWAYS_BYTES } from '@svc/protocol'
import { abortError, SvcError } from '@svc/sdk-core'
import { THREAD_FAREWELL_MS } from '../limits.ts'
import {
  defaultAuthorities,
  dialQuic,
  NO_QUIC,
  type QuicConnection,
  type QuicEvents,
  type QuicTarget,
} from './quic.ts'
import type { Order, Report, ThreadData } from './thread.ts'
import { Transit } from './transit.ts'

const BROKEN = 'the thread of the QUIC client ended'
const THREAD: URL = new URL('./thread.ts', import.meta.url)

export type DialQuic = (
  target: QuicTarget,
  events: QuicEvents,
  signal: AbortSignal,
) => Promise<QuicConnection>

/** By the native binary, else in a thread. */
export const dialAnyhow: DialQuic = async (target, events, signal) => {
  try {
    return await dialQuic(target, events, signal)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'quic_unavailable')
      return await dialInThread(target, events, signal)
    throw error
  }
}

/** @throws SvcError `quic_unavailable`, `tunnel_unreachable` or `aborted` */
export async function dialInThread(
  target: QuicTarget,
  events: QuicEvents,
  signal: AbortSignal,
  script: URL = THREAD,
): Promise<QuicConnection> {
  const connection = new ThreadConnection(target, events, script)
  const abort = (): void => connection.end(abortError(signal))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    await connection.ready
    return connection
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

class ThreadConnection implements QuicConnection {
  readonly ready: Promise<void>
  readonly stream: Duplex
  /** This client does not tell what more passes. */
  readonly datagramMaxBytes = DATAGRAM_ALWAYS_BYTES
  readonly #events: QuicEvents
  readonly #worker: Worker
  readonly #inward: Transit = new Transit()
  readonly #outward: Transit = new Transit()
  readonly #settle: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  #isDialing = false
  #isReady = false
  #isClosing = false
  #isOver = false

  constructor(target: QuicTarget, events: QuicEvents, script: URL) {
    this.#events = events
    this.ready = this.#settle.promise
    // the thread has no environment, and with it no authorities that are named there
    const { ca = defaultAuthorities() } = target
    const workerData: ThreadData = {
      target: { ...target, ca },
      inward: this.#inward.shared,
      outward: this.#outward.shared,
    }
    this.#worker = new Worker(script, { workerData, env: {}, execArgv: [] })
    this.#worker.on('message', (report: Report) => this.#take(report))
    const broken = (cause: unknown): void => this.end(this.#whyBroken(cause))
    this.#worker.on('error', broken).on('exit', broken)
    this.stream = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => {
        this.#order({ type: 'stream', bytes: new Uint8Array(chunk) })
        done()
      },
    })
  }

  send(bytes: Uint8Array): boolean {
    if (this.#isClosing || !this.#outward.depart()) return false
    this.#order({ type: 'datagram', bytes })
    return true
  }

  ping(): void {
    this.#order({ type: 'ping' })
  }

  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#order({ type: 'close' })
    this.#worker.unref()
    setTimeout(() => this.end(new SvcError('tunnel_unreachable', '')), THREAD_FAREWELL_MS).unref()
  }

  /** @param error what a dial fails with; of a connection that was made, its message is the reason */
  end(error: SvcError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isClosing = true
    void this.#worker.terminate()
    if (this.#isReady) this.#events.closed(error.message)
    else this.#settle.reject(error)
  }

  /** The client dies of more than it should: a certificate that is not trusted is enough. */
  #whyBroken(cause: unknown): SvcError {
    if (this.#isReady) return new SvcError('tunnel_unreachable', BROKEN, { cause })
    return this.#isDialing
      ? new SvcError('tunnel_unreachable', `${BROKEN}: is the relay's certificate trusted?`, { cause })
      : new SvcError('quic_unavailable', NO_QUIC, { cause })
  }

  #order(order: Order): void {
    this.#worker.postMessage(order)
  }

  #take(report: Report): void {
    switch (report.type) {
      case 'dialing':
        this.#isDialing = true
        break
      case 'ready':
        this.#isReady = true
        this.#settle.resolve()
        break
      case 'failed':
        this.end(new SvcError(report.code, report.message))
        break
      case 'datagram':
        this.#countDropped(this.#inward.arrive())
        this.#events.datagram(report.bytes)
        break
      case 'stream':
        this.stream.push(report.bytes)
        break
      case 'closed':
        this.end(new SvcError('tunnel_unreachable', report.reason))
    }
  }

  #countDropped(count: number): void {
    if (count > 0) this.#events.dropped(count)
  }
}
