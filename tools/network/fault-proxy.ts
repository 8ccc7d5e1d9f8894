// A TCP proxy that fails on demand: cuts, refuses, stalls, delays and splits what passes, or keeps one half open.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** One connection through the proxy. */
interface Pair {
  /** The connection of the client. */
  near: Socket
  /** The connection to the target. */
  far: Socket
}

export class FaultProxy {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  /** Milliseconds by which each piece is forwarded later. */
  delayMs = 0
  /** Bytes of each piece that is forwarded. */
  pieceBytes: number = Number.POSITIVE_INFINITY
  /** Resets new connections while it is true. */
  isDown = false
  #port = 0

  static async start(targetPort: () => number): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort)
    await proxy.#listen()
    return proxy
  }

  constructor(targetPort: () => number) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) =>
      this.isDown ? near.resetAndDestroy() : this.#join(near, targetPort()),
    )
  }

  get port(): number {
    return this.#port
  }

  /** Resets every connection at both ends. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy()
      far.resetAndDestroy()
    }
  }

  /** Resets every connection, and refuses new ones for this many milliseconds: nothing listens on the port. */
  async refuse(ms: number): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cut()
    await Promise.all([closed, new Promise((resolve) => setTimeout(resolve, ms))])
    await this.#listen()
  }

  /** Passes nothing on the present connections, without a sign to either end. Later connections work. */
  stall(): void {
    for (const { near, far } of this.#pairs) {
      for (const socket of [near, far]) socket.removeAllListeners('data').removeAllListeners('drain').pause()
    }
  }

  /** Cuts the clients off; the target still believes that they are there. */
  halfOpen(): void {
    for (const { near, far } of this.#pairs) {
      far.removeAllListeners('data').resume()
      near.removeAllListeners('close').resetAndDestroy()
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const { near, far } of this.#pairs) {
      near.destroy()
      far.destroy()
    }
    await closed
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  #join(near: Socket, port: number): void {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const pair = { near, far }
    this.#pairs.add(pair)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {})
      from.on('data', (bytes: Buffer) => this.#forward(bytes, from, to))
      from.on('end', () => this.#later(() => to.end()))
      from.on('close', () => to.destroy())
      to.on('drain', () => from.resume())
    }
    far.on('close', () => this.#pairs.delete(pair))
  }

  #forward(bytes: Buffer, from: Socket, to: Socket): void {
    this.#later(() => {
      for (let at = 0; at < bytes.length; at += this.pieceBytes) {
        if (to.write(bytes.subarray(at, at + this.pieceBytes)) || from.isPaused()) continue
        from.pause()
      }
    })
  }

  #later(run: () => void): void {
    if (this.delayMs === 0) run()
    else setTimeout(run, this.delayMs)
  }
}
