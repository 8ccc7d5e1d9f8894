// Connections to one other machine: dialled again for as long as it is listed, with one stream for messages and one for each visitor.

import { connect, type TLSSocket } from 'node:tls'
import { backoffMs } from '@svc/protocol/timers'
import type { Session, Stream } from '@svc/yamux'
import type { SharedReadBuffer } from '../../../core/node-internals/shared-read-buffer.ts'
import {
  LINK_ANSWER_MS,
  LINK_CONNECT_MS,
  LINK_MESSAGES_WAITING_MAX_BYTES,
  LINK_RETRY_MAX_MS,
  LINK_RETRY_MS,
  LINKS_PER_MACHINE,
} from '../limits.ts'
import type { HostAndPort } from '../settings.ts'
import type { LinkCertificate } from './link-certificate.ts'
import {
  FrameReader,
  frameJson,
  LINK_VERSION,
  type LinkMessage,
  parseLinkMessage,
  type Question,
} from './link-messages.ts'
import { LINK_ALPN } from './link-server.ts'
import { openLinkSession } from './link-session.ts'

interface LinkClientParts {
  /** Name of the machine to dial, which has to be in its certificate. */
  machine: string
  address: HostAndPort
  /** Identifies this run of this machine. */
  run: string
  certificate: LinkCertificate
  readBuffer: SharedReadBuffer | undefined
  /** Called when messages and visitors can be sent. */
  onUp: () => void
  onDown: () => void
}

type Asked = Question extends infer Q ? (Q extends Question ? Omit<Q, 'question'> : never) : never

export class LinkClient {
  readonly #parts: LinkClientParts
  /** An entry is undefined while its connection is down. */
  readonly #sessions: (Session | undefined)[] = Array.from({ length: LINKS_PER_MACHINE }, () => undefined)
  readonly #sockets = new Set<TLSSocket>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #questions = new Map<number, (yes: boolean) => void>()
  #control: Stream | undefined
  #lastQuestion = 0
  #waitingBytes = 0
  #isClosed = false

  constructor(parts: LinkClientParts) {
    this.#parts = parts
    for (const index of this.#sessions.keys()) this.#dial(index, 0)
  }

  /** Whether messages and visitors can be sent now. */
  get isUp(): boolean {
    return this.#control !== undefined
  }

  /** Sends a message, or drops it while the link is down. */
  send(message: LinkMessage): void {
    const control = this.#control
    if (control === undefined) return
    const bytes = frameJson(message)
    this.#waitingBytes += bytes.length
    // The machine no longer reads its messages.
    if (this.#waitingBytes > LINK_MESSAGES_WAITING_MAX_BYTES) this.#cut()
    control
      .write(bytes)
      .catch(() => {})
      .finally(() => {
        this.#waitingBytes -= bytes.length
      })
  }

  /** Asks a question. @returns the answer; undefined when the machine does not answer in time */
  async ask(question: Asked, deadlineMs: number = LINK_ANSWER_MS): Promise<boolean | undefined> {
    if (this.#control === undefined) return undefined
    this.#lastQuestion += 1
    const id = this.#lastQuestion
    const { promise, resolve } = Promise.withResolvers<boolean | undefined>()
    this.#questions.set(id, resolve)
    const timer = setTimeout(() => resolve(undefined), deadlineMs)
    this.send({ ...question, question: id })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#questions.delete(id)
    }
  }

  /** Opens a stream for a visitor. @returns undefined while the link is down @throws YamuxError when it breaks */
  async openStream(): Promise<Stream | undefined> {
    let best: Session | undefined
    for (const session of this.#sessions)
      if (session !== undefined && (best === undefined || session.streamCount < best.streamCount))
        best = session
    return await best?.open()
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#cut()
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #dial(index: number, attempts: number): void {
    if (this.#isClosed) return
    const { machine, address, certificate, readBuffer } = this.#parts
    const { ca, cert, key } = certificate
    const socket = connect({
      host: address.host,
      port: address.port,
      ca,
      cert,
      key,
      minVersion: 'TLSv1.3',
      ALPNProtocols: [LINK_ALPN],
      // The certificate names the machine, whichever address was dialled.
      checkServerIdentity: (_host, { subject }) =>
        `${subject?.CN}` === machine ? undefined : new Error(`another machine than ${machine} answers`),
    })
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    const late = setTimeout(() => socket.destroy(), LINK_CONNECT_MS)
    let isUp = false
    socket.once('secureConnect', () => {
      clearTimeout(late)
      if (socket.alpnProtocol !== LINK_ALPN) return void socket.destroy()
      isUp = true
      const session = openLinkSession(socket, { role: 'client', readBuffer, onClose: () => {} })
      this.#sessions[index] = session
      if (index === 0) void this.#openControl(session, socket)
    })
    socket.once('close', () => {
      clearTimeout(late)
      this.#sockets.delete(socket)
      this.#sessions[index] = undefined
      if (index === 0) this.#lost()
      this.#again(index, isUp ? 0 : attempts + 1)
    })
  }

  #again(index: number, attempts: number): void {
    if (this.#isClosed) return
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        this.#dial(index, attempts)
      },
      backoffMs(attempts, LINK_RETRY_MS, LINK_RETRY_MAX_MS),
    )
    this.#timers.add(timer)
    timer.unref()
  }

  async #openControl(session: Session, socket: TLSSocket): Promise<void> {
    try {
      const stream = await session.open()
      await stream.write(frameJson({ kind: 'control', version: LINK_VERSION, run: this.#parts.run }))
      this.#control = stream
      this.#parts.onUp()
      const frames = new FrameReader(stream)
      for (let bytes = await frames.next(); bytes !== undefined; bytes = await frames.next()) {
        const message = parseLinkMessage(bytes.toString())
        if (message?.kind === 'answer') this.#questions.get(message.question)?.(message.yes)
      }
    } catch {}
    socket.destroy()
  }

  #lost(): void {
    if (this.#control === undefined) return
    this.#control = undefined
    for (const answer of this.#questions.values()) answer(false)
    this.#questions.clear()
    this.#parts.onDown()
  }
}
