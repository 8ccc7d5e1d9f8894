// Makes pairs of connected sockets over the loopback interface.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Time for a connection of the relay to itself, which takes less than a millisecond. */
const LOOPBACK_DEADLINE_MS = 2_000
/** Accepted connections that wait until the relay knows whether it or another program opened them. */
export const LOOPBACK_STRANGERS_MAX = 64
const HOST = '127.0.0.1'

export interface SocketPair {
  /** The end that connected. */
  near: Socket
  /** The end that was accepted. It stays open for writing when its peer has ended. */
  far: Socket
}

/**
 * A session may be in another process, to which only a socket can be passed, and Node has no `socketpair`. The listener
 * accepts no other program's connection: the remote address and port must be those of a socket that this process has
 * just connected, and the kernel gives a port of an address to one socket at a time.
 */
export class LoopbackPairs {
  #listener: Promise<Server> | undefined
  #isClosed = false
  /** Pending calls of {@link open}. */
  #opening = 0
  /** By the port of the near end. */
  readonly #awaited = new Map<number, (far: Socket) => void>()
  /** Accepted before the relay knew whether their ports are those of near ends. */
  readonly #unknown = new Map<number, Socket>()

  /** Rejects when the kernel refuses a socket. */
  async open(): Promise<SocketPair> {
    this.#opening += 1
    const deadline = AbortSignal.timeout(LOOPBACK_DEADLINE_MS)
    let near: Socket | undefined
    try {
      const { port } = (await this.#listening()).address() as AddressInfo
      // The kernel resets it when no descriptor is free for the other end, and when the listener closes.
      near = connect({ host: HOST, port, noDelay: true }).on('error', () => {})
      await once(near, 'connect', { signal: deadline })
      return { near, far: await this.#accepted(near, deadline) }
    } catch (error) {
      near?.destroy()
      throw error
    } finally {
      this.#opening -= 1
      if (this.#opening === 0) this.#refuseUnknown()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const listener = await this.#listener?.catch(() => undefined)
    if (listener === undefined) return
    // 'close' may never come: Node does not count every socket that was passed to another process and closed here.
    listener.close()
  }

  /** Forgets a failed listener, so that the next call tries again: descriptors may be free by then. */
  #listening(): Promise<Server> {
    this.#listener ??= this.#listen().catch((error) => {
      this.#listener = undefined
      throw error
    })
    return this.#listener
  }

  async #listen(): Promise<Server> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true })
    listener.on('connection', (socket) => this.#accept(socket))
    // An error concerns one connection, whose other end waits for it no longer than its deadline.
    listener.on('error', () => {})
    if (this.#isClosed) throw new Error('the relay is closing')
    await Promise.all([once(listener, 'listening'), listener.listen(0, HOST)])
    return listener
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {})
    const { remotePort, remoteAddress } = socket
    // Other addresses of the loopback interface have ports of their own.
    if (remotePort === undefined || remoteAddress !== HOST) {
      socket.destroy()
      return
    }
    const take = this.#awaited.get(remotePort)
    if (take !== undefined) take(socket)
    else if (this.#opening === 0 || this.#unknown.size >= LOOPBACK_STRANGERS_MAX) socket.destroy()
    else this.#unknown.set(remotePort, socket)
  }

  async #accepted(near: Socket, deadline: AbortSignal): Promise<Socket> {
    const port = near.localPort!
    const early = this.#unknown.get(port)
    this.#unknown.delete(port)
    if (early !== undefined) return early
    const { promise, resolve, reject } = Promise.withResolvers<Socket>()
    this.#awaited.set(port, resolve)
    const late = (): void => reject(deadline.reason)
    const closed = (): void => reject(new Error('the connection was not accepted'))
    deadline.addEventListener('abort', late)
    near.once('close', closed)
    try {
      return await promise
    } finally {
      this.#awaited.delete(port)
      deadline.removeEventListener('abort', late)
      near.off('close', closed)
    }
  }

  #refuseUnknown(): void {
    for (const socket of this.#unknown.values()) socket.destroy()
    this.#unknown.clear()
  }
}
