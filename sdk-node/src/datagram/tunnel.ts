// One datagram tunnel: QUIC, the token on its first stream, then datagrams, and a heartbeat that checks the path.

import type { Duplex } from 'node:stream'
import { forMs } from '@svc/node-kit/pauses'
import {
  DATAGRAM_ALWAYS_BYTES,
  DatagramAggregator,
  DatagramQueue,
  datagramsOf,
  TUNNEL_HEARTBEAT_BYTES,
  TUNNEL_HELLO_DEADLINE_MS,
  TUNNEL_HELLO_MAX_BYTES,
  TUNNEL_KEEPALIVE_MS,
  type TunnelHello,
} from '@svc/protocol'
import { isRecord, isRelayCode, type RemoteAddress, SvcError } from '@svc/sdk-core'
import { monotonic } from './monotonic.ts'
import type { QueueDrop, QuicConnection, QuicTarget } from './quic.ts'
import { type DialQuic, dialNativeOrWasm } from './quic-in-worker.ts'
import { StreamReader } from './stream-reader.ts'

/** Milliseconds for a heartbeat to return, before the next one is due. If it does not, the path drops large packets. */
export const HEARTBEAT_DEADLINE_MS = 10_000
/** The most DATAGRAM frames passed to the QUIC library at once. */
const PACE_BURST = 256
/** Milliseconds between two such bursts, which allows about 100,000 datagrams a second. */
const PACE_PAUSE_MS = 2

export interface TunnelEvents {
  /** @param at the time of its arrival, in {@link monotonic} milliseconds */
  datagram(bytes: Uint8Array, at: number): void
  /** Called with the address of a flow's visitor, as the relay says. */
  flow(flowId: number, remote: RemoteAddress): void
  /** Called with the number of datagrams lost here after they arrived, or after {@link Tunnel.send} accepted them. */
  dropped(reason: QueueDrop, count: number): void
  /** Called once, when the tunnel has ended. */
  ended(reason: SvcError): void
}

export interface Heartbeat {
  everyMs: number
  deadlineMs: number
}

/** The reason why {@link Tunnel.send} dropped a datagram. */
export type SendFailure = 'too_large' | 'send_queue_full'

/** The relay's answer to the token. */
interface Relay {
  /** True when the relay returns heartbeats. */
  hasHeartbeat: boolean
  takesAggregates: boolean
}

const PULSE: Heartbeat = { everyMs: TUNNEL_KEEPALIVE_MS, deadlineMs: HEARTBEAT_DEADLINE_MS }

/** @throws SvcError the relay's own code when it refused, or `quic_unavailable`, `tunnel_unreachable` or `unexpected_answer` */
export async function openTunnel(
  target: QuicTarget,
  accessToken: string,
  events: TunnelEvents,
  signal: AbortSignal,
  pulse: Heartbeat = PULSE,
  dial: DialQuic = dialNativeOrWasm,
): Promise<Tunnel> {
  let tunnel: Tunnel | undefined
  let isOver = false
  const connection = await dial(
    target,
    {
      datagram: (bytes, at = monotonic()) => {
        for (const datagram of datagramsOf(bytes)) events.datagram(datagram, at)
      },
      dropped: (reason, count) => events.dropped(reason, count),
      closed: (reason) => {
        isOver = true
        tunnel?.end(reason || 'the connection was lost')
      },
    },
    signal,
  )
  try {
    const relay = await sayHello(connection.stream, accessToken)
    tunnel = new Tunnel(connection, events, relay, pulse)
    if (isOver) tunnel.end('the connection was lost at once')
    return tunnel
  } catch (error) {
    connection.close()
    throw error
  }
}

export class Tunnel {
  readonly #connection: QuicConnection
  readonly #events: TunnelEvents
  readonly #pulse: Heartbeat
  readonly #sending: DatagramQueue<Uint8Array>
  readonly #timer: NodeJS.Timeout
  #deadline: NodeJS.Timeout | undefined
  /** The bytes of heartbeats not yet returned. */
  #awaited = 0
  #isEnded = false

  constructor(connection: QuicConnection, events: TunnelEvents, relay: Relay, pulse: Heartbeat) {
    this.#connection = connection
    this.#events = events
    this.#pulse = pulse
    const aggregator = relay.takesAggregates ? this.#aggregatorOf(connection) : undefined
    this.#sending = new DatagramQueue<Uint8Array>({
      pass: (datagram) => (aggregator ? aggregator.push(datagram) : this.#pass(datagram)),
      tooOld: () => events.dropped('send_too_old', 1),
      batchSize: PACE_BURST,
      pause: forMs(PACE_PAUSE_MS),
    })
    const reader = new StreamReader({
      heard: (bytes) => this.#heard(bytes),
      flow: (flowId, remote) => events.flow(flowId, remote),
    })
    connection.stream.on('data', (bytes: Buffer) => {
      if (!this.#isEnded && !reader.push(bytes)) this.end('the relay sent a line that is too long')
    })
    connection.stream.resume()
    const beat = (): void => (relay.hasHeartbeat ? this.#beat() : connection.ping())
    this.#timer = setInterval(beat, pulse.everyMs)
    beat()
  }

  /** @returns the reason why it was dropped; undefined when it was not */
  send(datagram: Uint8Array): SendFailure | undefined {
    if (datagram.length > DATAGRAM_ALWAYS_BYTES && datagram.length > this.#connection.datagramMaxBytes)
      return 'too_large'
    return this.#sending.push(datagram) ? undefined : 'send_queue_full'
  }

  /** Closes the tunnel without an event. */
  close(): void {
    this.#isEnded = true
    clearInterval(this.#timer)
    clearTimeout(this.#deadline)
    this.#sending.clear()
    this.#connection.close()
  }

  end(why: string): void {
    if (this.#isEnded) return
    this.close()
    this.#events.ended(new SvcError('tunnel_unreachable', `the datagram tunnel ended: ${why}`))
  }

  /** Sends the service's datagrams of one event-loop turn together. */
  #aggregatorOf(connection: QuicConnection): DatagramAggregator {
    return new DatagramAggregator({
      pass: (bytes) => this.#pass(bytes),
      maxBytes: () => connection.datagramMaxBytes,
      atEndOfTurn: setImmediate,
    })
  }

  /** @param bytes a datagram, or an aggregate of several */
  #pass(bytes: Uint8Array): void {
    if (!this.#isEnded && !this.#connection.send(bytes))
      this.#events.dropped('send_queue_full', datagramsOf(bytes).length)
  }

  /**
   * The library probes for a larger packet size only once, so only the heartbeat detects that the path MTU shrank.
   */
  #beat(): void {
    if (this.#awaited > 0) return
    this.#awaited = TUNNEL_HEARTBEAT_BYTES
    this.#connection.stream.write(new Uint8Array(TUNNEL_HEARTBEAT_BYTES))
    this.#deadline = setTimeout(() => this.end('large packets do not pass'), this.#pulse.deadlineMs)
  }

  #heard(bytes: number): void {
    this.#awaited = Math.max(0, this.#awaited - bytes)
    if (this.#awaited === 0) clearTimeout(this.#deadline)
  }
}

/** @returns the relay's capabilities */
async function sayHello(stream: Duplex, accessToken: string): Promise<Relay> {
  const hello: TunnelHello = { access_token: accessToken, aggregates: true }
  stream.write(JSON.stringify(hello))
  const answer = await readAnswer(stream)
  if (isRecord(answer) && answer.ok === true)
    return { hasHeartbeat: answer.heartbeat === true, takesAggregates: answer.aggregates === true }
  const code = isRecord(answer) ? answer.error : undefined
  if (isRelayCode(code)) throw new SvcError(code, 'the relay refused the datagram tunnel')
  throw new SvcError('unexpected_answer', 'the relay did not answer on the datagram tunnel')
}

/** Leaves the stream paused, with what follows the answer. @returns undefined when the answer is not JSON or does not arrive in time */
function readAnswer(stream: Duplex): Promise<unknown> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0)
    const done = (answer: unknown): void => {
      clearTimeout(deadline)
      stream.off('data', read).off('close', end).off('end', end).pause()
      resolve(answer)
    }
    const end = (): void => done(undefined)
    const read = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      const { answer, rest } = parseFirst(bytes)
      if (answer === undefined && bytes.length <= TUNNEL_HELLO_MAX_BYTES) return
      done(answer)
      if (rest.length > 0) stream.unshift(rest)
    }
    const deadline = setTimeout(end, TUNNEL_HELLO_DEADLINE_MS)
    stream.on('data', read).once('close', end).once('end', end)
  })
}

/** @returns the first object of JSON, and the bytes behind it */
function parseFirst(bytes: Buffer): { answer?: unknown; rest: Buffer } {
  for (let end = bytes.indexOf('}'); end >= 0; end = bytes.indexOf('}', end + 1))
    try {
      return { answer: JSON.parse(bytes.toString('utf8', 0, end + 1)), rest: bytes.subarray(end + 1) }
    } catch {
      // A brace within the object.
    }
  return { rest: bytes.subarray(0, 0) }
}
