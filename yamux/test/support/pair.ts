// Two sessions joined in memory, over a link that can delay, split and saturate.

import { Session, type SessionOptions, type Stream } from '../../src/index.ts'

export interface Link {
  delayMs?: number
  /** Deliver in pieces of this many bytes. */
  splitBytes?: number
  /** The transport is saturated while more than this is on its way. */
  highWaterBytes?: number
}

export interface Peer {
  readonly session: Session
  /** The next stream that the other side opened. */
  accept(): Promise<Stream>
}

type Options = Omit<SessionOptions, 'role' | 'onStream'>

/** Every time limit is off unless a test sets one: what is waited for is said by the test. */
const NO_TIMERS = { keepAliveIntervalMs: 0, openTimeoutMs: 0, closeTimeoutMs: 0 }

export function pair(link: Link = {}, options: { client?: Options; server?: Options } = {}) {
  const toServer = new Wire(link)
  const toClient = new Wire(link)
  const client = endpoint('client', toServer, options.client)
  const server = endpoint('server', toClient, options.server)
  toServer.to = server.session
  toClient.to = client.session
  return { client, server }
}

function endpoint(role: 'client' | 'server', out: Wire, options: Options | undefined): Peer {
  const accepted = new Queue<Stream>()
  const session = new Session(out, {
    ...NO_TIMERS,
    ...options,
    role,
    onStream: (stream) => accepted.push(stream),
  })
  return { session, accept: () => accepted.next() }
}

/** One direction of the link. Each message arrives in a later turn of the event loop, in order. */
class Wire {
  to: Session | undefined
  readonly #link: Link
  #bytesOnTheWay = 0
  #drained: PromiseWithResolvers<void> | undefined

  constructor(link: Link) {
    this.#link = link
  }

  send(message: Uint8Array): void | Promise<void> {
    this.#bytesOnTheWay += message.length
    this.#later(() => this.#deliver(message))
    if (this.#bytesOnTheWay <= (this.#link.highWaterBytes ?? 256 * 1024)) return
    this.#drained ??= Promise.withResolvers<void>()
    return this.#drained.promise
  }

  close(): void {
    this.#later(() => this.to?.transportClosed())
  }

  #later(deliver: () => void): void {
    if (this.#link.delayMs === undefined) setImmediate(deliver)
    else setTimeout(deliver, this.#link.delayMs)
  }

  #deliver(message: Uint8Array): void {
    const step = this.#link.splitBytes ?? message.length
    for (let at = 0; at < message.length; at += step) this.to?.receive(message.subarray(at, at + step))
    this.#bytesOnTheWay -= message.length
    this.#drained?.resolve()
    this.#drained = undefined
  }
}

class Queue<T> {
  readonly #items: T[] = []
  readonly #waiting: ((item: T) => void)[] = []

  push(item: T): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#items.push(item)
    else waiting(item)
  }

  next(): Promise<T> {
    const item = this.#items.shift()
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item)
  }
}
