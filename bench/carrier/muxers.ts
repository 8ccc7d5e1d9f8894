// Three implementations of yamux behind one interface: both ends in memory, one end sends, the other reads.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { yamux } from '@libp2p/yamux'
import { Session, type Stream, type Transport } from '@svc/yamux'
import { Client, Server } from 'yamux-js'

/** Moves `bytes` over each of `streams` streams that one end opens and the other reads. */
export type Transfer = (streams: number, bytes: number) => Promise<void>

const CHUNK: Uint8Array = new Uint8Array(64 * 1024).fill(7)
/** A transport that holds more than this is full. */
const WIRE_MAX_BYTES: number = 256 * 1024

/** Resolves when this many bytes were counted. */
class Counter {
  readonly #reached = Promise.withResolvers<void>()
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  get reached(): Promise<void> {
    return this.#reached.promise
  }

  add(bytes: number): void {
    this.#left -= bytes
    if (this.#left <= 0) this.#reached.resolve()
  }
}

export const ours: Transfer = async (streams, bytes) => {
  const counter = new Counter(streams * bytes)
  const read = async (stream: Stream): Promise<void> => {
    for (let left = bytes; left > 0; ) {
      const chunk = (await stream.read())!
      left -= chunk.length
      counter.add(chunk.length)
    }
  }
  const [toServer, toClient] = [new Wire(), new Wire()]
  const client = new Session(toServer, { role: 'client' })
  const server = new Session(toClient, { role: 'server', onStream: (stream) => void read(stream) })
  toServer.deliver = (message) => server.receive(message)
  toClient.deliver = (message) => client.receive(message)
  const send = async (): Promise<void> => {
    const stream = await client.open()
    for (let sent = 0; sent < bytes; sent += CHUNK.length) await stream.write(CHUNK)
    await stream.end()
  }
  await Promise.all(Array.from({ length: streams }, send))
  await counter.reached
  client.close()
  server.close()
}

/** Messages arrive in a later turn of the event loop, as from a socket. */
class Wire implements Transport {
  deliver: (message: Uint8Array) => void = () => {}
  #bytes = 0
  #drained: PromiseWithResolvers<void> | undefined

  send(message: Uint8Array): void | Promise<void> {
    this.#bytes += message.length
    setImmediate(() => {
      this.deliver(message)
      this.#bytes -= message.length
      this.#drained?.resolve()
      this.#drained = undefined
    })
    if (this.#bytes <= WIRE_MAX_BYTES) return
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  close(): void {}
}

export const libp2p: Transfer = async (streams, bytes) => {
  const counter = new Counter(streams * bytes)
  const [near, far] = [new MessageConnection('outbound'), new MessageConnection('inbound')]
  near.peer = far
  far.peer = near
  const factory = yamux({ enableKeepAlive: false })()
  const client = factory.createStreamMuxer(near as never)
  const server = factory.createStreamMuxer(far as never)
  server.addEventListener('stream', ({ detail }) =>
    detail.addEventListener('message', ({ data }) => counter.add(data.byteLength)),
  )
  const send = async (): Promise<void> => {
    const stream = await client.createStream()
    for (let sent = 0; sent < bytes; sent += CHUNK.length) if (!stream.send(CHUNK)) await stream.onDrain()
    await stream.close()
  }
  await Promise.all(Array.from({ length: streams }, send))
  await counter.reached
  await Promise.all([client.close(), server.close()])
}

/** Has as little of a libp2p connection as its muxer uses. */
class MessageConnection extends EventTarget {
  readonly direction: 'inbound' | 'outbound'
  readonly log: object = Object.assign(() => {}, {
    trace() {},
    error() {},
    enabled: false,
    newScope: () => this.log,
  })
  peer: MessageConnection | undefined

  constructor(direction: 'inbound' | 'outbound') {
    super()
    this.direction = direction
  }

  /** Joins each message to one array, as ours makes it and a WebSocket takes it; libp2p hands over a list of parts. */
  send(parts: { subarray(): Uint8Array }): boolean {
    const data = parts.subarray()
    setImmediate(() => this.peer?.dispatchEvent(Object.assign(new Event('message'), { data })))
    return true
  }

  abort(): void {}
}

export const yamuxJs: Transfer = async (streams, bytes) => {
  const counter = new Counter(streams * bytes)
  const config = { enableKeepAlive: false, logger: () => {} }
  const client = new Client(config)
  const server = new Server((stream) => stream.on('data', (chunk) => counter.add(chunk.length)), config)
  client.pipe(server).pipe(client)
  const send = async (): Promise<void> => {
    const stream = client.open()
    for (let sent = 0; sent < bytes; sent += CHUNK.length)
      await new Promise((resolve) => stream.write(CHUNK, resolve))
  }
  await Promise.all(Array.from({ length: streams }, send))
  await counter.reached
  client.unpipe().close()
  server.unpipe().close()
  await nextTurn()
}
