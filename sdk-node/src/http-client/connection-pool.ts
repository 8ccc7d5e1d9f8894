// The connections to one target: those that are idle wait for the next request, the last used first.

import { isIP, connect as open, type Socket } from 'node:net'
import { type ConnectionOptions, connect as openTls } from 'node:tls'
import {
  ADDRESS_DEADLINE_MS,
  KEEP_ALIVE_MARGIN_MS,
  TARGET_CONNECT_DEADLINE_MS,
  TARGET_IDLE_MAX,
  TARGET_IDLE_MS,
} from '../limits.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import { TargetConnection } from './connection.ts'

const HTTP_PORT = 80
const HTTPS_PORT = 443

/** The way to a target, beside its URL. */
export interface TargetAccess {
  /** PEM of the authority that an HTTPS target's certificate is checked against. */
  ca?: string | Buffer | undefined
  /** The name in the certificate of an HTTPS target, where it is not that of the URL. */
  serverName?: string | undefined
  /** The path of the Unix socket at which the target listens; the URL then says what it is told. */
  socketPath?: string | undefined
}

interface Idle {
  connection: TargetConnection
  /** The time of `performance.now()` after which it is not used again. */
  until: number
}

export class ConnectionPool {
  readonly host: string
  readonly port: number
  readonly #tls: ConnectionOptions | undefined
  readonly #socketPath: string | undefined
  /** In the order in which they became idle. */
  #idle: Idle[] = []
  #sweep: NodeJS.Timeout | undefined
  /** The next TLS connection resumes this session. */
  #session: Buffer | undefined

  constructor(target: URL, { ca, serverName, socketPath }: TargetAccess) {
    const isTls = target.protocol === 'https:'
    // An IPv6 address stands in brackets in a URL, and no address is a server name (RFC 6066 §3).
    this.host = target.hostname.replace(/^\[|\]$/g, '')
    this.#socketPath = socketPath
    this.port = Number(target.port) || (isTls ? HTTPS_PORT : HTTP_PORT)
    if (isTls)
      this.#tls = {
        ALPNProtocols: ['http/1.1'],
        ...(isIP(this.host) === 0 && { servername: this.host }),
        ...(serverName !== undefined && { servername: serverName }),
        ...(ca !== undefined && { ca }),
      }
  }

  /** @returns the connection that became idle last, or undefined when there is none */
  take(): TargetConnection | undefined {
    const now = performance.now()
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      const { connection, until } = last
      if (!connection.isOver && now < until) {
        connection.socket.ref()
        connection.isReused = true
        return connection
      }
      connection.socket.destroy()
    }
    return undefined
  }

  /**
   * Keeps a connection for another exchange.
   * @param keptMs the time for which the target keeps it, if it says so
   */
  keep(connection: TargetConnection, keptMs: number = Number.POSITIVE_INFINITY): void {
    const ms = Math.min(TARGET_IDLE_MS, keptMs - KEEP_ALIVE_MARGIN_MS)
    if (ms <= 0 || this.#idle.length >= TARGET_IDLE_MAX) return void connection.socket.destroy()
    connection.user = undefined
    connection.socket.unref()
    this.#idle.push({ connection, until: performance.now() + ms })
    this.#sweep ??= setTimeout(() => this.#swept(), TARGET_IDLE_MS).unref()
  }

  /**
   * Opens a connection.
   * @param opened called with the socket, with which the caller can give up
   * @throws the error for which there is none
   */
  async open(opened: (socket: Socket) => void): Promise<TargetConnection> {
    const address =
      this.#socketPath === undefined
        ? {
            host: this.host,
            port: this.port,
            lookup: localhostLookup,
            autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
          }
        : { path: this.#socketPath }
    const socket = this.#tls
      ? openTls({ ...address, ...this.#tls, ...(this.#session && { session: this.#session }) })
      : open(address)
    socket.on('session', (session: Buffer) => {
      this.#session = session
    })
    opened(socket)
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(TARGET_CONNECT_DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('the connection closed')))
      socket.once(this.#tls ? 'secureConnect' : 'connect', resolve)
    })
    socket.setTimeout(0)
    return new TargetConnection(socket)
  }

  #swept(): void {
    this.#sweep = undefined
    const now = performance.now()
    const left = this.#idle.filter(({ connection, until }) => {
      const isKept = !connection.isOver && now < until
      if (!isKept) connection.socket.destroy()
      return isKept
    })
    this.#idle = left
    if (left.length > 0) this.#sweep = setTimeout(() => this.#swept(), TARGET_IDLE_MS).unref()
  }
}
