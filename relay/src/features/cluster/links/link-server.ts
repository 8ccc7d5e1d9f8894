// Listens for the other machines, each of which must first prove that it knows the secret.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { Stream } from '@svc/yamux'
import { SettingsError } from '../../../core/config/settings-error.ts'
import type { Logger } from '../../../core/log/log.ts'
import type { SharedReadBuffer } from '../../../core/node-internals/shared-read-buffer.ts'
import { UnderlyingSockets } from '../../../core/reverse/tls-underlying-socket.ts'
import { LINK_CONNECT_MS, LINK_CONNECTIONS_MAX, LINK_HANDSHAKES_MAX, LINK_HEAD_MS } from '../limits.ts'
import { FEATURE_VISITOR, type FeatureHead, readFeatureHead } from './feature-head.ts'
import type { LinkCertificate } from './link-certificate.ts'
import {
  FrameReader,
  frameJson,
  LINK_VERSION_MIN,
  type LinkMessage,
  parseLinkMessage,
} from './link-messages.ts'
import { openLinkSession } from './link-session.ts'
import { readVisitorHead, type VisitorHead } from './visitor-head.ts'

export const LINK_ALPN = 'svc-cluster'

/** A machine that has connected, on the stream over which it sends its messages. */
export interface IncomingLink {
  /** Name of the machine. */
  machine: string
  /** Identifies the run of the machine. */
  run: string
  answer(message: LinkMessage): void
}

interface LinkServerParts {
  certificate: LinkCertificate
  readBuffer: SharedReadBuffer | undefined
  onLink(link: IncomingLink): void
  onMessage(message: LinkMessage, link: IncomingLink): void
  onLinkClose(link: IncomingLink): void
  /** Called with a visitor of another machine, whose bytes come on the stream after the answer to the head. */
  onVisitor(head: VisitorHead, stream: Stream, machine: string): Promise<void>
  /** The same for a visitor of a snapshot that this machine has. */
  onFeatureVisitor(head: FeatureHead, stream: Stream): Promise<void>
  log: Logger
}

export class LinkServer {
  readonly #parts: LinkServerParts
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** Connections whose handshake is not complete, the oldest first. */
  readonly #unproven = new Set<Socket>()
  readonly #tcpSockets = new UnderlyingSockets()

  constructor(parts: LinkServerParts) {
    this.#parts = parts
    const { ca, cert, key } = parts.certificate
    this.#server = createServer({
      ca,
      cert,
      key,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      ALPNProtocols: [LINK_ALPN],
      handshakeTimeout: LINK_CONNECT_MS,
      noDelay: true,
    })
    this.#server.maxConnections = LINK_CONNECTIONS_MAX
    this.#server.on('connection', (socket) => this.#admit(socket))
    this.#server.on('secureConnection', (socket) => this.#serve(socket))
    this.#server.on('tlsClientError', (error, socket) => {
      parts.log.debug(
        { reason: error.message },
        'a connection to the port for machines has not proven the secret',
      )
      socket.destroy()
    })
  }

  /**
   * @param host undefined: every address
   * @throws SettingsError when the port is not available
   */
  async listen(port: number, host?: string): Promise<void> {
    this.#server.listen({ port, host })
    try {
      await once(this.#server, 'listening')
    } catch (error) {
      throw new SettingsError('CLUSTER_ADDR', (error as Error).message)
    }
    this.#server.on('error', (error) => this.#parts.log.error({ err: error }, 'a machine was not accepted'))
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  /** Connections share a few places until they have proven that they know the secret; the oldest one makes room. */
  #admit(socket: Socket): void {
    if (this.#unproven.size >= LINK_HANDSHAKES_MAX) this.#unproven.values().next().value?.destroy()
    this.#open.add(socket)
    this.#unproven.add(socket)
    this.#tcpSockets.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#unproven.delete(socket)
    })
  }

  #serve(socket: TLSSocket): void {
    const machine = `${socket.getPeerCertificate().subject?.CN ?? ''}`
    if (socket.alpnProtocol !== LINK_ALPN || machine === '') {
      socket.destroy()
      return
    }
    const tcp = this.#tcpSockets.beneath(socket)
    if (tcp !== undefined) this.#unproven.delete(tcp)
    openLinkSession(socket, {
      role: 'server',
      readBuffer: this.#parts.readBuffer,
      onStream: (stream) => void this.#receive(stream, machine).catch(() => stream.abort()),
      onClose: () => {},
    })
  }

  async #receive(stream: Stream, machine: string): Promise<void> {
    const frames = new FrameReader(stream)
    const late = new AbortController()
    const deadline = setTimeout(() => late.abort(), LINK_HEAD_MS).unref()
    const first = await frames.next(late.signal)
    if (first === undefined) return stream.abort()
    const head = JSON.parse(first.toString())
    if (head?.kind === 'visitor') {
      const visitor = await readVisitorHead(head, frames, late.signal)
      clearTimeout(deadline)
      return await this.#parts.onVisitor(visitor, stream, machine)
    }
    clearTimeout(deadline)
    if (head?.kind === FEATURE_VISITOR) await this.#parts.onFeatureVisitor(readFeatureHead(head), stream)
    else if (head?.kind === 'control' && head.version >= LINK_VERSION_MIN && typeof head.run === 'string')
      await this.#control(stream, frames, { machine, run: head.run })
    else stream.abort()
  }

  async #control(stream: Stream, frames: FrameReader, from: { machine: string; run: string }): Promise<void> {
    const { onLink, onMessage, onLinkClose } = this.#parts
    const link: IncomingLink = {
      ...from,
      answer: (message) => void stream.write(frameJson(message)).catch(() => stream.abort()),
    }
    onLink(link)
    try {
      for (let bytes = await frames.next(); bytes !== undefined; bytes = await frames.next()) {
        const message = parseLinkMessage(bytes.toString())
        if (message !== undefined) onMessage(message, link)
      }
    } finally {
      onLinkClose(link)
      stream.abort()
    }
  }
}
