// One connection of a carrier, with a yamux session on it. It ends once, with a reason.

import { CARRIER_CLOSE } from '@svc/protocol'
import { Session, type YamuxError } from '@svc/yamux'
import { asSvcError, leaseReplaced, SvcError } from '../errors.ts'
import type { ConnectionEvents, ConnectionTransport } from './connection-transport.ts'
import { LoadMeter } from './load-meter.ts'
import { type Activation, offerStream, type ReadyStream } from './reverse-stream.ts'
import { PING_DEADLINE_MS, Watchdog } from './watchdog.ts'

/** Traffic counts the bytes of all connections that a site's carriers ever had, as yamux messages. */
export interface Traffic {
  bytesIn: number
  bytesOut: number
}

interface CarrierConnectionEvents {
  /** Called when bytes arrive from the relay. */
  onActivity(): void
  /** Called once when the connection ends, but not after `close`. */
  ended(connection: CarrierConnection, reason: SvcError): void
}

export class CarrierConnection implements ConnectionEvents {
  /** True when the connection gets no more streams, because the carrier needs one connection less. */
  isRetiring = false
  #events: CarrierConnectionEvents
  #traffic: Traffic
  #session: Session
  #watchdog: Watchdog
  #load = new LoadMeter()
  #waiting = 0
  #closed = false

  constructor(transport: ConnectionTransport, traffic: Traffic, events: CarrierConnectionEvents) {
    this.#events = events
    this.#traffic = traffic
    this.#session = new Session(
      {
        send: (bytes) => this.#send(transport, bytes),
        get copies() {
          return transport.copies
        },
        close: () => transport.close(),
      },
      // The watchdog pings instead: it copes with throttled timers.
      { role: 'client', keepAliveIntervalMs: 0, pingTimeoutMs: PING_DEADLINE_MS },
    )
    this.#session.closed.then((cause) => this.fail(endReason(cause)))
    this.#watchdog = new Watchdog(
      () => this.#session.ping(),
      (cause) => this.fail(unreachable('the relay stopped answering', cause)),
    )
    this.#measureRoundTrip()
  }

  /** The number of its streams, ready and serving. */
  get streamCount(): number {
    return this.#session.streamCount
  }

  /** True when the relay takes no more streams here, because this machine of it is leaving. Streams with visitors go on. */
  get isLeaving(): boolean {
    return this.#session.isPeerGoingAway
  }

  /** True when at least one of its streams serves a visitor. */
  get isBusy(): boolean {
    return this.streamCount > this.#waiting
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** The last round trip, in milliseconds. */
  get rtt(): number | undefined {
    return this.#session.rtt
  }

  /** True when the connection is the bottleneck of its streams: new ones should use another. */
  get saturated(): boolean {
    return this.#load.saturated
  }

  message(bytes: Uint8Array): void {
    this.#traffic.bytesIn += bytes.length
    this.#watchdog.onActivity()
    this.#session.receive(bytes)
    if (this.#load.measure(this.rtt) && this.isBusy) this.#measureRoundTrip()
    this.#events.onActivity()
  }

  closed(code: number | undefined): void {
    this.fail(closeReason(code))
  }

  /**
   * Opens a stream that waits for a visitor. When that fails, or the relay's answer is malformed, the connection
   * ends, unless it is leaving.
   * @returns undefined when the relay rejected the stream
   */
  async open(capability: string): Promise<ReadyStream | undefined> {
    const ready = await this.#offer(capability)
    if (ready === undefined) return undefined
    this.#waiting += 1
    const activation = async (): Promise<Activation | undefined> => {
      const activated = await ready.activation()
      this.#waiting -= 1
      return activated
    }
    return { ...ready, activation }
  }

  /** Checks at once whether the relay still answers, after the machine slept or the network changed. */
  probe(): void {
    this.#watchdog.probe()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#watchdog.stop()
    this.#session.close()
  }

  /** Closes the connection because of `reason`, and reports it. */
  fail(reason: SvcError): void {
    if (this.#closed) return
    this.close()
    this.#events.ended(this, reason)
  }

  async #offer(capability: string): Promise<ReadyStream | undefined> {
    try {
      return await offerStream(await this.#session.open(), capability)
    } catch (error) {
      if (!this.isLeaving)
        this.fail(asSvcError(error, 'relay_unreachable', 'no reverse stream could be opened'))
      throw error
    }
  }

  #send(transport: ConnectionTransport, bytes: Uint8Array): void | Promise<void> {
    this.#traffic.bytesOut += bytes.length
    const drained = transport.send(bytes)
    if (drained === undefined) return
    this.#load.bufferFull()
    return drained.then(() => this.#load.bufferDrained())
  }

  /** Measures the round trip. It ignores a ping without an answer: the watchdog handles silence. */
  #measureRoundTrip(): void {
    this.#session.ping().catch(() => {})
  }
}

/** Without a close code of the transport, the relay may say in its GoAway why it closes. */
function endReason(cause: YamuxError | undefined): SvcError {
  if (cause?.code === 'peer_error') return closeReason(cause.goAwayCode, cause)
  return unreachable('the multiplexed session ended', cause)
}

function closeReason(code: number | undefined, cause?: unknown): SvcError {
  switch (code) {
    case CARRIER_CLOSE.leaseReplaced:
      return leaseReplaced()
    case CARRIER_CLOSE.leaseEnded:
      return new SvcError('lease_ended', 'the relay ended the lease')
    default:
      return unreachable(`the carrier's connection closed${code === undefined ? '' : ` with ${code}`}`, cause)
  }
}

function unreachable(why: string, cause?: unknown): SvcError {
  return new SvcError('relay_unreachable', why, { cause })
}
