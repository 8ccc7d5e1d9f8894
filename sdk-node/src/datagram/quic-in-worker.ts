// QUIC in a worker thread, with the library's WASM client, for platforms without its native binary.

import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { DATAGRAM_ALWAYS_BYTES } from '@svc/protocol'
import { abortError, SvcError } from '@svc/sdk-core'
import { installation, type ThreadCode } from '../installation.ts'
import { InFlightCounter } from './in-flight-counter.ts'
import { monotonic } from './monotonic.ts'
import {
  defaultAuthorities,
  dialQuic,
  NO_QUIC,
  type QuicConnection,
  type QuicEvents,
  type QuicTarget,
} from './quic.ts'
import type { WorkerCommand, WorkerData, WorkerEvent } from './quic-worker.ts'

/** How long the thread has to tell the relay that the tunnel is closed, in milliseconds. */
const THREAD_FAREWELL_MS = 250
const BROKEN = 'the thread of the QUIC client ended'

export type DialQuic = (
  target: QuicTarget,
  events: QuicEvents,
  signal: AbortSignal,
) => Promise<QuicConnection>

/** Dials with the native binary or, if there is none, in a thread. */
export const dialNativeOrWasm: DialQuic = async (target, events, signal) => {
  try {
    return await dialQuic(target, events, signal)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'quic_unavailable')
      return await dialInWorker(target, events, signal)
    throw error
  }
}

/** @throws SvcError `quic_unavailable`, `tunnel_unreachable` or `aborted` */
export async function dialInWorker(
  target: QuicTarget,
  events: QuicEvents,
  signal: AbortSignal,
  code: ThreadCode = installation().thread('quic-worker'),
): Promise<QuicConnection> {
  const connection = new ThreadConnection(target, events, code)
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
  /** This client does not report when larger datagrams pass. */
  readonly datagramMaxBytes = DATAGRAM_ALWAYS_BYTES
  readonly #events: QuicEvents
  readonly #worker: Worker
  readonly #inward: InFlightCounter = new InFlightCounter()
  readonly #outward: InFlightCounter = new InFlightCounter()
  readonly #settle: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  #isDialing = false
  #isReady = false
  #isClosing = false
  #isOver = false

  constructor(target: QuicTarget, events: QuicEvents, { script, options }: ThreadCode) {
    this.#events = events
    this.ready = this.#settle.promise
    // The thread has no environment, and so lacks the CAs that the environment names.
    const { ca = defaultAuthorities() } = target
    const workerData: WorkerData = {
      target: { ...target, ca },
      inward: this.#inward.shared,
      outward: this.#outward.shared,
    }
    this.#worker = new Worker(script, { workerData, env: {}, execArgv: [], ...options })
    this.#worker.on('message', (report: WorkerEvent) => this.#take(report))
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
    if (this.#isClosing || !this.#outward.tryAdd()) return false
    this.#order({ type: 'datagram', bytes, at: monotonic() })
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

  /** @param error the dial's error or, after the connection was made, the reason of its end */
  end(error: SvcError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isClosing = true
    void this.#worker.terminate()
    if (this.#isReady) this.#events.closed(error.message)
    else this.#settle.reject(error)
  }

  /** The client crashes on many errors, even on an untrusted certificate. @returns the error to report */
  #whyBroken(cause: unknown): SvcError {
    if (this.#isReady) return new SvcError('tunnel_unreachable', BROKEN, { cause })
    return this.#isDialing
      ? new SvcError('tunnel_unreachable', `${BROKEN}: is the relay's certificate trusted?`, { cause })
      : new SvcError('quic_unavailable', NO_QUIC, { cause })
  }

  #order(order: WorkerCommand): void {
    this.#worker.postMessage(order)
  }

  #take(report: WorkerEvent): void {
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
        this.#countDropped(this.#inward.remove())
        this.#events.datagram(report.bytes, report.at)
        break
      case 'dropped':
        this.#events.dropped(report.reason, report.count)
        break
      case 'stream':
        this.stream.push(report.bytes)
        break
      case 'closed':
        this.end(new SvcError('tunnel_unreachable', report.reason))
    }
  }

  #countDropped(count: number): void {
    if (count > 0) this.#events.dropped('receive_queue_full', count)
  }
}
