// One connection to the target: it passes received bytes to its exchange, and closes on bytes that nobody requested.

import type { Socket } from 'node:net'
import { LineBuffer } from '@svc/sdk-core/http1'

/** A ConnectionUser is the exchange that has a connection. */
export interface ConnectionUser {
  /** Called when bytes arrived. */
  received(): void
  /** Called when the socket accepts bytes again. */
  drained(): void
  /** Called when the target ended its direction. */
  ended(): void
  /** Called when nothing more can arrive. */
  closed(error: Error): void
}

export class TargetConnection {
  /** The received bytes that the exchange has not taken. */
  readonly unread: LineBuffer = new LineBuffer()
  readonly socket: Socket
  /** True when the connection carried an exchange before. */
  isReused = false
  /** True when the target ended its direction. */
  isEnded = false
  user: ConnectionUser | undefined
  #failure: Error | undefined

  /** @param socket a connected socket */
  constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', ({ buffer, byteOffset, length }: Buffer) => {
      // An unsolicited response must not become the answer to the next request.
      if (!this.user) return void socket.destroy()
      this.unread.append(new Uint8Array(buffer, byteOffset, length))
      this.user.received()
    })
    socket.on('drain', () => this.user?.drained())
    socket.on('end', () => {
      this.isEnded = true
      if (this.user) this.user.ended()
      else socket.destroy()
    })
    socket.on('error', (error) => {
      this.#failure = error
    })
    socket.on('close', () => this.user?.closed(this.#failure ?? new Error('the connection closed')))
  }

  /** True when the connection can carry no other exchange. */
  get isOver(): boolean {
    return this.isEnded || this.socket.destroyed
  }
}
