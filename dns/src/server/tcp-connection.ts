// One TCP connection: length-prefixed queries in any chunking, and answers in order.

import type { Socket } from 'node:net'
import {
  TCP_IDLE_MS,
  TCP_LIFETIME_MS,
  TCP_QUERIES_PER_TURN,
  TCP_QUERY_MAX_BYTES,
  TCP_UNREAD_MAX_BYTES,
} from './limits.ts'

const LENGTH_BYTES = 2

export interface TcpConnectionLimits {
  idleMs: number
  lifetimeMs: number
  unreadBytes: number
}

const LIMITS: TcpConnectionLimits = {
  idleMs: TCP_IDLE_MS,
  lifetimeMs: TCP_LIFETIME_MS,
  unreadBytes: TCP_UNREAD_MAX_BYTES,
}

interface TcpConnectionOptions {
  /** @returns undefined for a message that gets no answer: the connection ends */
  answer(message: Buffer): Buffer | undefined
  /** Called for each query. */
  onQuery(): void
  limits?: TcpConnectionLimits | undefined
}

export class TcpConnection {
  readonly #socket: Socket
  readonly #options: TcpConnectionOptions
  readonly #limits: TcpConnectionLimits
  /** The received, unanswered bytes: at most one read of the socket and the beginning of a query. */
  #received: Buffer = Buffer.alloc(0)
  /** Restarted only by each complete query. */
  readonly #idle: NodeJS.Timeout
  readonly #lifetime: NodeJS.Timeout
  #turn: NodeJS.Immediate | undefined
  #hasEnded = false

  constructor(socket: Socket, options: TcpConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#limits = options.limits ?? LIMITS
    const end = (): unknown => socket.destroy()
    this.#idle = setTimeout(end, this.#limits.idleMs)
    this.#lifetime = setTimeout(end, this.#limits.lifetimeMs)
    socket.on('data', (data: Buffer) => {
      this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data])
      this.#answerSome()
    })
    socket.on('end', () => {
      this.#hasEnded = true
      if (this.#turn === undefined && !socket.isPaused()) socket.end()
    })
    socket.on('drain', () => this.#answerSome())
    socket.on('error', end)
    socket.once('close', () => {
      clearTimeout(this.#idle)
      clearTimeout(this.#lifetime)
      clearImmediate(this.#turn)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Stops reading while complete queries or unread answers are left. */
  #answerSome(): void {
    clearImmediate(this.#turn)
    this.#turn = undefined
    for (let count = 0; count < TCP_QUERIES_PER_TURN; count++) {
      if (this.#socket.destroyed) return
      if (this.#socket.writableLength > this.#limits.unreadBytes) {
        this.#socket.pause()
        return
      }
      const message = this.#next()
      if (message === undefined) {
        if (this.#hasEnded) this.#socket.end()
        else this.#socket.resume()
        return
      }
      this.#answer(message)
    }
    this.#socket.pause()
    this.#turn = setImmediate(() => this.#answerSome())
  }

  #next(): Buffer | undefined {
    if (this.#received.length < LENGTH_BYTES) return undefined
    const length = this.#received.readUInt16BE(0)
    if (length > TCP_QUERY_MAX_BYTES) {
      this.#socket.destroy()
      return undefined
    }
    const end = LENGTH_BYTES + length
    if (this.#received.length < end) return undefined
    const message = this.#received.subarray(LENGTH_BYTES, end)
    this.#received = this.#received.subarray(end)
    return message
  }

  #answer(message: Buffer): void {
    this.#idle.refresh()
    this.#options.onQuery()
    const answer = this.#options.answer(message)
    if (answer === undefined) {
      this.#socket.destroy()
      return
    }
    const framed = Buffer.allocUnsafe(LENGTH_BYTES + answer.length)
    framed.writeUInt16BE(answer.length, 0)
    answer.copy(framed, LENGTH_BYTES)
    this.#socket.write(framed)
  }
}
