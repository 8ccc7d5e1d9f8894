// A carrier: one WebSocket with a yamux session on it and streams ready for visitors. Ends once, with the reason.

import { CARRIER_CLOSE } from '@svc/protocol'
import { Session } from '@svc/yamux'
import { withDeadline } from '../deadline.ts'
import { abortError, asSvcError, SvcError } from '../errors.ts'
import { PING_DEADLINE_MS, SILENCE_CHECK_MS, SILENCE_MAX_MS } from '../limits.ts'
import { ReadyStreams } from './ready-streams.ts'
import { type Activation, offerStream } from './reverse-stream.ts'
import {
  openWebSocket,
  type WebSocketEvents,
  type WebSocketTarget,
  type WebSocketTransport,
} from './websocket.ts'

export interface CarrierEvents {
  /** The capability to present: that of now, not of when the carrier opened. */
  capability(): string
  serve(activation: Activation): Promise<void>
  /** Bytes came from the relay. */
  traffic(): void
  /** The relay refused the capability: renew, then call `fill`. */
  stale(): void
  /** The carrier, once online, is gone. Called once, unless `close` was. */
  ended(reason: SvcError): void
}

/**
 * Resolves once the relay accepted the first stream, so that visitors can come.
 * @throws SvcError why there is no carrier
 */
export async function openCarrier(
  target: WebSocketTarget,
  events: CarrierEvents,
  signal: AbortSignal,
): Promise<Carrier> {
  const carrier = await openWebSocket(target, (transport) => new Carrier(transport, events), signal)
  const abort = (): void => carrier.fail(abortError(signal))
  signal.addEventListener('abort', abort, { once: true })
  try {
    await carrier.online
    return carrier
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export class Carrier implements WebSocketEvents {
  readonly online: Promise<void>
  #events: CarrierEvents
  #session: Session
  #streams: ReadyStreams
  #firstReady = Promise.withResolvers<void>()
  #isOnline = false
  #heardAt = Date.now()
  #watch: ReturnType<typeof setInterval>
  #probing = false
  #closed = false

  constructor(transport: WebSocketTransport, events: CarrierEvents) {
    this.#events = events
    this.online = this.#firstReady.promise
    this.#session = new Session(transport, { role: 'client' })
    this.#session.closed.then((cause) =>
      this.fail(new SvcError('relay_unreachable', 'the multiplexed session ended', { cause })),
    )
    this.#streams = new ReadyStreams({
      open: async () => offerStream(await this.#session.open(), events.capability()),
      serve: (activation) => events.serve(activation),
      ready: () => this.#cameOnline(),
      rejected: (again) => this.#rejected(again),
      failed: (error) =>
        this.fail(asSvcError(error, 'relay_unreachable', 'no reverse stream could be opened')),
    })
    this.#watch = setInterval(() => this.#checkSilence(), SILENCE_CHECK_MS)
    this.#streams.fill()
  }

  get isClosed(): boolean {
    return this.#closed
  }

  message(bytes: Uint8Array): void {
    this.#heardAt = Date.now()
    this.#session.receive(bytes)
    this.#events.traffic()
  }

  closed(code: number): void {
    this.fail(closeReason(code))
  }

  /** Opens the ready streams that are missing, after the lease was renewed. */
  fill(): void {
    this.#streams.fill()
  }

  /** Finds out now whether the relay still answers: the machine slept, or the network changed. */
  async probe(): Promise<void> {
    if (this.#probing || this.#closed) return
    this.#probing = true
    const dead = (): SvcError => new SvcError('relay_unreachable', 'the relay stopped answering')
    await withDeadline(this.#session.ping(), PING_DEADLINE_MS, dead).catch((error) =>
      this.fail(asSvcError(error, 'relay_unreachable', 'a ping failed')),
    )
    this.#probing = false
  }

  /** Closes without an event. Connections that are being served end with it. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#watch)
    this.#streams.stop()
    this.#session.close()
  }

  /** Closes because of `reason`, and tells. */
  fail(reason: SvcError): void {
    if (this.#closed) return
    this.close()
    if (this.#isOnline) this.#events.ended(reason)
    else this.#firstReady.reject(reason)
  }

  #cameOnline(): void {
    this.#isOnline = true
    this.#firstReady.resolve()
  }

  #rejected(again: boolean): void {
    if (this.#isOnline && !again) this.#events.stale()
    else this.fail(new SvcError('stream_rejected', 'the relay takes no reverse stream of this lease'))
  }

  #checkSilence(): void {
    if (Date.now() - this.#heardAt > SILENCE_MAX_MS) this.probe()
  }
}

function closeReason(code: number): SvcError {
  switch (code) {
    case CARRIER_CLOSE.leaseReplaced:
      return new SvcError('lease_replaced', 'the same identity registered this name elsewhere')
    case CARRIER_CLOSE.leaseEnded:
      return new SvcError('lease_ended', 'the relay ended the lease')
    default:
      return new SvcError('relay_unreachable', `the WebSocket closed with ${code}`)
  }
}
