// Starts and controls the QUIC process, and offers its connections as if QUIC were in this process. The relay validates
// every frame from that process, because an attacker may have taken it over.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { DATAGRAM_ALWAYS_BYTES } from '@svc/protocol'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import { monotonic } from '../../core/clock.ts'
import { z } from '../../core/config/schema.ts'
import { CLOSE_GRACE_MS } from '../../core/ingress/open-sockets.ts'
import { QUIC_END_DEADLINE_MS, QUIC_PIPE_MAX_BYTES, QUIC_START_DEADLINE_MS, TUNNELS_MAX } from './limits.ts'
import {
  type Begin,
  type Dropped,
  datagramOf,
  type Failed,
  FRAME,
  type Frame,
  FramePipe,
  type Listening,
  QUIC_PIPE_FD,
} from './process-frames.ts'
import type { QuicEvents, TunnelConnection } from './quic.ts'
import type { SupervisedEndpoint } from './quic-endpoint.ts'
import { spawnQuicProcess } from './spawn-quic-process.ts'

export interface QuicProcessEvents {
  accept(connection: TunnelConnection): QuicEvents
  /** Called with the counts of datagrams that the process dropped. */
  dropped(counts: Dropped): void
  log: { warn(message: string): void }
}

/** Interval at which the relay pings the QUIC process. */
const PING_MS = 5_000
/** The relay kills a QUIC process that has not answered for this long. */
const PING_DEADLINE_MS = 15_000
/** An IPv6 address with the name of an interface. */
const ADDRESS_MAX_BYTES = 64
const CODE_BYTES = 4
const MALFORMED = 'it sent a malformed frame'
const count = z.int().nonnegative()
const DROPPED: z.ZodType<Dropped> = z.object({
  queue_full: count,
  too_old: count,
  unauthenticated: count,
})
const FAILED: z.ZodType<Failed> = z.object({ message: z.string(), code: z.string().optional() })
const LISTENING: z.ZodType<Listening> = z.object({ is_root: z.boolean() })

/** @throws Error with the system's `code` when the port cannot be bound, or when the library has no binary for this platform */
export async function startQuicProcess(
  begin: Begin,
  events: QuicProcessEvents,
  child: ChildProcess = spawnQuicProcess(),
): Promise<SupervisedEndpoint> {
  // `once` throws when the process could not be started.
  await once(child, 'spawn')
  const link = new QuicLink(child, events)
  link.begin(begin)
  try {
    const { is_root } = await link.listening
    if (is_root)
      events.log.warn('the QUIC process has the rights of root: it was not allowed to give them up')
    return { ended: link.ended, close: () => link.end() }
  } catch (error) {
    await link.end()
    throw error
  }
}

class QuicLink {
  readonly #child: ChildProcess
  readonly #events: QuicProcessEvents
  readonly #pipe: FramePipe
  readonly #open = new Map<number, LinkedConnection>()
  readonly #listening: PromiseWithResolvers<Listening> = Promise.withResolvers()
  readonly #ended: PromiseWithResolvers<string> = Promise.withResolvers()
  readonly #pings: NodeJS.Timeout
  readonly #startDeadline: NodeJS.Timeout
  #pingedAt: number | undefined
  /** Why the relay killed the process. */
  #cause: string | undefined

  constructor(child: ChildProcess, events: QuicProcessEvents) {
    this.#child = child
    this.#events = events
    this.#pipe = new FramePipe(child.stdio[QUIC_PIPE_FD] as Duplex, {
      frame: (frame) => this.#onFrame(frame),
      closed: (isMalformed) => {
        if (isMalformed) this.#kill(MALFORMED)
        // The process exits by itself then, and its exit code says more about the cause.
        else setTimeout(() => this.#kill('its pipe is closed'), CLOSE_GRACE_MS).unref()
      },
    })
    // A caller that awaits it gets the rejection; without one, it must not be an unhandled rejection.
    this.#listening.promise.catch(() => {})
    child.on('error', () => {})
    child.once('exit', (code, signal) => this.#onExit(this.#cause ?? signal ?? `exit code ${code}`))
    this.#pings = setInterval(() => this.#checkLiveness(), PING_MS).unref()
    this.#startDeadline = setTimeout(() => this.#kill('it did not start in time'), QUIC_START_DEADLINE_MS)
  }

  get listening(): Promise<Listening> {
    return this.#listening.promise
  }

  get ended(): Promise<string> {
    return this.#ended.promise
  }

  begin(begin: Begin): void {
    this.#pipe.sendText(FRAME.begin, begin)
  }

  async end(): Promise<void> {
    this.#pipe.send(FRAME.end)
    const deadline = setTimeout(() => this.#kill('it did not end in time'), QUIC_END_DEADLINE_MS)
    await this.ended
    clearTimeout(deadline)
  }

  #kill(cause: string): void {
    this.#cause ??= cause
    this.#child.kill('SIGKILL')
  }

  #onExit(cause: string): void {
    clearInterval(this.#pings)
    clearTimeout(this.#startDeadline)
    this.#pipe.close()
    for (const id of [...this.#open.keys()]) this.#closed(id)
    this.#listening.reject(new Error(`the QUIC process ended: ${cause}`))
    this.#ended.resolve(cause)
  }

  #checkLiveness(): void {
    const now = performance.now()
    this.#pingedAt ??= now
    if (now - this.#pingedAt > PING_DEADLINE_MS) this.#kill('it does not answer')
    else this.#pipe.send(FRAME.ping)
  }

  #onFrame(frame: Frame): void {
    if (this.#cause !== undefined) return
    if (!this.#dispatch(frame)) this.#kill(MALFORMED)
  }

  /** @returns false when the frame is malformed */
  #dispatch({ kind, connection: id, payload }: Frame): boolean {
    if (kind === FRAME.pong) this.#pingedAt = undefined
    else if (kind === FRAME.listening) return this.#settle(LISTENING.safeParse(parse(payload)).data)
    else if (kind === FRAME.failed) return this.#fail(FAILED.safeParse(parse(payload)).data)
    else if (kind === FRAME.dropped) return this.#drop(DROPPED.safeParse(parse(payload)).data)
    else if (kind === FRAME.opened) return this.#accept(id, payload)
    else return this.#deliver(this.#open.get(id), id, kind, payload)
    return true
  }

  #settle(listening: Listening | undefined): boolean {
    if (listening === undefined) return false
    clearTimeout(this.#startDeadline)
    this.#listening.resolve(listening)
    return true
  }

  #fail(failed: Failed | undefined): boolean {
    if (failed === undefined) return false
    this.#listening.reject(Object.assign(new Error(failed.message), { code: failed.code }))
    return true
  }

  #drop(counts: Dropped | undefined): boolean {
    if (counts === undefined) return false
    this.#events.dropped(counts)
    return true
  }

  #accept(id: number, payload: Buffer): boolean {
    const clientIp = payload.length <= ADDRESS_MAX_BYTES ? normalizeIp(payload.toString()) : undefined
    if (clientIp === undefined || this.#open.has(id) || this.#open.size >= TUNNELS_MAX) return false
    const connection = new LinkedConnection(clientIp, id, this.#pipe)
    this.#open.set(id, connection)
    connection.events = this.#events.accept(connection)
    return true
  }

  #deliver(connection: LinkedConnection | undefined, id: number, kind: number, payload: Buffer): boolean {
    if (connection === undefined) return false
    if (kind === FRAME.datagram) return connection.receiveDatagram(payload)
    if (kind === FRAME.stream) connection.receive(Buffer.from(payload))
    else if (kind === FRAME.streamEnd) connection.receive(null)
    else if (kind === FRAME.closed) this.#closed(id)
    else if (kind === FRAME.path && payload.length === CODE_BYTES)
      connection.datagramMaxBytes = payload.readUInt32BE()
    else return false
    return true
  }

  #closed(id: number): void {
    const connection = this.#open.get(id)
    this.#open.delete(id)
    connection?.closed()
  }
}

class LinkedConnection implements TunnelConnection {
  readonly clientIp: string
  datagramMaxBytes: number = DATAGRAM_ALWAYS_BYTES
  events: QuicEvents | undefined
  readonly #id: number
  readonly #pipe: FramePipe
  #stream: TunnelStream | undefined
  #isOpen = true

  constructor(clientIp: string, id: number, pipe: FramePipe) {
    this.clientIp = clientIp
    this.#id = id
    this.#pipe = pipe
  }

  send(datagram: Uint8Array): boolean {
    if (!this.#hasRoom()) return false
    this.#pipe.sendDatagram(this.#id, datagram, monotonic())
    return true
  }

  /** @returns false when the frame is malformed */
  receiveDatagram(payload: Buffer): boolean {
    const frame = datagramOf(payload)
    if (frame !== undefined) this.events?.datagram(Buffer.from(frame.datagram), frame.at)
    return frame !== undefined
  }

  aggregate(): void {
    if (this.#isOpen) this.#pipe.send(FRAME.aggregate, this.#id)
  }

  sendLine(line: string): void {
    if (this.#hasRoom()) this.#pipe.sendText(FRAME.line, line, this.#id)
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    const payload = Buffer.alloc(CODE_BYTES + Buffer.byteLength(reason))
    payload.writeUInt32BE(code)
    payload.write(reason, CODE_BYTES)
    this.#pipe.send(FRAME.close, this.#id, payload)
  }

  /** @param bytes null at the end of the stream */
  receive(bytes: Buffer | null): void {
    if (this.#stream === undefined) {
      this.#stream = new TunnelStream(this.#id, this.#pipe)
      this.events?.stream(this.#stream)
    }
    if (!this.#stream.destroyed) this.#stream.push(bytes)
  }

  closed(): void {
    this.#isOpen = false
    this.#stream?.destroy()
    this.events?.closed()
  }

  #hasRoom(): boolean {
    return this.#isOpen && this.#pipe.queuedBytes <= QUIC_PIPE_MAX_BYTES
  }
}

/** The first stream of a connection. Its user bounds one half, and the QUIC process the other. */
class TunnelStream extends Duplex {
  readonly #id: number
  readonly #pipe: FramePipe

  constructor(id: number, pipe: FramePipe) {
    super()
    this.#id = id
    this.#pipe = pipe
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#pipe.send(FRAME.stream, this.#id, bytes)
    done()
  }

  override _final(done: () => void): void {
    this.#pipe.send(FRAME.streamEnd, this.#id)
    done()
  }
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString())
  } catch {
    return undefined
  }
}
