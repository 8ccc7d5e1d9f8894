// Makes one WebSocket a message transport with back-pressure. Only this file imports isomorphic-ws (`ws` in Node).

import { SUBPROTOCOL, WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import IsomorphicWebSocket from '#isomorphic-ws'
import { abortError, SvcError } from '../errors.ts'
import { explained } from '../explained.ts'
import { isPlatformWebSocket } from '../platform-objects.ts'
import type { ConnectionEvents, ConnectionTransport } from './connection-transport.ts'

/** The standard constructor, with the options that `ws` also takes. */
const WebSocketClass = IsomorphicWebSocket as unknown as new (
  url: string,
  protocols: string[],
  options?: object,
) => WebSocket

export interface WebSocketTarget {
  /** The `wss:` URL. */
  url: string
  /** The reverse capability, which is offered as the second subprotocol. */
  capability: string
  /** Options for constructors that take them (`ws` in Node): a CA, a DNS lookup. */
  options?: object | undefined
}

/** The deadline for opening a WebSocket, with DNS and TLS. */
export const CONNECT_DEADLINE_MS = 10_000
/** Sending pauses when this much is buffered in the WebSocket: enough for 100 MB/s at 10 ms. */
export const BUFFERED_AMOUNT_MAX_BYTES: number = 1024 * 1024
/**
 * The interval between checks of a full WebSocket: the shortest that browsers allow (HTML, "Timers"). Incoming
 * messages also trigger a check, so throttled timers do not matter.
 */
const DRAIN_POLL_MS = 4
/** The close codes of RFC 6455 §7.4.1. A page may send only 1000 and 3000 to 4999 itself, so a violation is 4000. */
const NORMAL_CLOSURE = 1000
const VIOLATION = 4000

/**
 * Opens a WebSocket, and resolves with what `attach` returned. `attach` is called within the open event, so that no
 * message is missed.
 * @throws SvcError `relay_unreachable`, `unexpected_answer` or `aborted`
 */
export function openWebSocket<T extends ConnectionEvents>(
  target: WebSocketTarget,
  attach: (transport: ConnectionTransport) => T,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw abortError(signal)
    const protocols = [SUBPROTOCOL, target.capability]
    // A browser's constructor ignores the third argument.
    const socket = new WebSocketClass(target.url, protocols, target.options)
    socket.binaryType = 'arraybuffer'
    const drain = new DrainGate(socket)
    const fail = (error: SvcError): void => {
      clearTimeout(deadline)
      socket.close()
      reject(error)
    }
    const unreachable = (why: string, cause?: unknown): void =>
      fail(new SvcError('relay_unreachable', `no WebSocket to the relay: ${why}`, { cause }))
    const deadline = setTimeout(() => unreachable('no answer in time'), CONNECT_DEADLINE_MS)
    const abort = (): void => fail(abortError(signal))
    signal.addEventListener('abort', abort, { once: true })
    let events: T | undefined

    socket.onopen = () => {
      clearTimeout(deadline)
      signal.removeEventListener('abort', abort)
      if (socket.protocol !== SUBPROTOCOL) {
        explained('unexpected_answer', ['otherSubprotocol']).then(fail)
        return
      }
      events = attach({
        send: (bytes) => drain.send(bytes),
        copies: isPlatformWebSocket(socket),
        close: () => socket.close(NORMAL_CLOSURE),
      })
      resolve(events)
    }
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string' || data.byteLength > WEBSOCKET_MESSAGE_MAX_BYTES) {
        socket.close(VIOLATION)
        return
      }
      // Window updates arrive as messages, so they trigger a check even where timers are throttled.
      drain.check()
      events?.message(new Uint8Array(data))
    }
    // A browser gives no reason here, and the close event follows.
    socket.onerror = (event) => {
      if (!events) unreachable('it failed', 'error' in event ? event.error : undefined)
    }
    socket.onclose = ({ code }) => {
      signal.removeEventListener('abort', abort)
      drain.open()
      if (events) events.closed(code)
      else unreachable(`closed with ${code}`)
    }
  })
}

/** Makes senders wait while `bufferedAmount` is above its limit, by polling: no event says when it falls. */
class DrainGate {
  #socket: WebSocket
  #waiting: { promise: Promise<void>; resolve: () => void } | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  send(bytes: Uint8Array): void | Promise<void> {
    // Drops bytes for a closed socket: its close event follows and ends the yamux session.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(bytes as Uint8Array<ArrayBuffer>)
    if (this.#socket.bufferedAmount <= BUFFERED_AMOUNT_MAX_BYTES) return
    this.#waiting ??= Promise.withResolvers<void>()
    this.#timer ??= setInterval(() => this.check(), DRAIN_POLL_MS)
    return this.#waiting.promise
  }

  check(): void {
    if (this.#waiting && this.#socket.bufferedAmount <= BUFFERED_AMOUNT_MAX_BYTES / 2) this.open()
  }

  open(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
