// Connects to one target: over TCP, a Unix socket, or TLS, which negotiates the HTTP version by ALPN (RFC 7301).

import { isIP, connect as open, type Socket } from 'node:net'
import { type ConnectionOptions, connect as openTls } from 'node:tls'
import { ADDRESS_DEADLINE_MS, TARGET_CONNECT_DEADLINE_MS } from '../net/deadlines.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'

const HTTP_PORT = 80
const HTTPS_PORT = 443

/** How to reach a target, besides its URL. */
export interface TargetAccess {
  /** PEM of the CA of an HTTPS target. */
  ca?: string | Buffer | undefined
  /** The name in the certificate of an HTTPS target, if it is not the URL's host. */
  serverName?: string | undefined
  /** The path of the Unix socket at which the target listens; the URL then gives the Host. */
  socketPath?: string | undefined
}

export class TargetDialer {
  readonly host: string
  readonly port: number
  readonly #tls: ConnectionOptions | undefined
  readonly #socketPath: string | undefined
  /** The TLS session to resume next. */
  #session: Buffer | undefined

  constructor(target: URL, { ca, serverName, socketPath }: TargetAccess) {
    const isTls = target.protocol === 'https:'
    // A URL puts an IPv6 address in brackets, and an address is not a server name (RFC 6066 §3).
    this.host = target.hostname.replace(/^\[|\]$/g, '')
    this.#socketPath = socketPath
    this.port = Number(target.port) || (isTls ? HTTPS_PORT : HTTP_PORT)
    if (isTls)
      this.#tls = {
        ...(isIP(this.host) === 0 && { servername: this.host }),
        ...(serverName !== undefined && { servername: serverName }),
        ...(ca !== undefined && { ca }),
      }
  }

  /**
   * Opens a connection.
   * @param protocol the HTTP version to offer to a TLS target
   * @param opened called with the socket, so that the caller can abort
   * @throws the error of the connection
   */
  async connect(protocol: 'http/1.1' | 'h2', opened: (socket: Socket) => void): Promise<Socket> {
    const address =
      this.#socketPath === undefined
        ? {
            host: this.host,
            port: this.port,
            lookup: localhostLookup,
            autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
          }
        : { path: this.#socketPath }
    const resumed = this.#session && { session: this.#session }
    const socket = this.#tls
      ? openTls({ ...address, ...this.#tls, ALPNProtocols: [protocol], ...resumed })
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
    return socket
  }
}
