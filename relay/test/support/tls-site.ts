// A site whose TLS and HTTP a test makes: it keeps native sessions ready, and gives each visitor to a server.

import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type Server, type TLSSocket } from 'node:tls'
import { MARKER } from '@svc/protocol'
import { apiSocket, connectRequest, UPGRADE_HEADERS } from './api-socket.ts'
import type { TestClient } from './relay.ts'

const BINDING_BYTES = 16

export interface TlsSite {
  /** Visitors so far. */
  connections: TLSSocket[]
  /** Opens sessions once more, after {@link close}. */
  reopen(): Promise<void>
  close(): Promise<void>
}

interface TlsSiteOptions {
  cert: string
  key: string
  /** Gets each visitor after its handshake. */
  serve: (connection: TLSSocket) => void
  /** Sessions that are ready for visitors. */
  ready?: number
}

export async function openTlsSite(
  relay: TestClient,
  capability: string,
  { cert, key, serve, ready = 4 }: TlsSiteOptions,
): Promise<TlsSite> {
  const connections: TLSSocket[] = []
  const tls: Server = createTlsServer({ cert, key, ALPNProtocols: ['http/1.1'] }, (connection) => {
    connection.on('error', () => {})
    connections.push(connection)
    serve(connection)
  })
  tls.on('tlsClientError', () => {})
  const sessions = new Set<TLSSocket>()
  let isClosed = false
  const open = async (): Promise<void> => {
    const session = await apiSocket(relay)
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => {})
    session.write(connectRequest(capability, UPGRADE_HEADERS, '1.1', new URL(relay.origin).hostname))
    const head = await readHead(session)
    if (!head.startsWith('HTTP/1.1 101 ')) throw new Error(head)
    void activated(session).then((isActive) => {
      if (isClosed || !isActive) return
      open().catch(() => {})
      tls.emit('connection', session)
    })
  }
  const openAll = async (): Promise<void> => {
    isClosed = false
    for (let i = 0; i < ready; i++) await open()
  }
  await openAll()
  return {
    connections,
    reopen: openAll,
    close: async () => {
      isClosed = true
      const closed = Array.from(sessions, (session) => once(session, 'close'))
      for (const session of sessions) session.destroy()
      await Promise.all(closed)
    },
  }
}

/** Serves the visitors of a site with Node's HTTP server. */
export function nodeHttp(listener: RequestListener): { server: HttpServer; serve: (c: TLSSocket) => void } {
  // As long as the SDKs keep an idle connection.
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, listener)
  return { server, serve: (connection) => void server.emit('connection', connection) }
}

async function readHead(session: TLSSocket): Promise<string> {
  let head = ''
  while (!head.endsWith('\r\n\r\n')) {
    const byte = await take(session, 1)
    if (byte === undefined) break
    head += byte.toString('latin1')
  }
  return head
}

/** Resolves when the session has a visitor, whose bytes are next; with false when it ends before. */
async function activated(session: TLSSocket): Promise<boolean> {
  for (;;) {
    const marker = await take(session, 1)
    if (marker === undefined) return false
    if (marker[0] === MARKER.keepalive) continue
    return (await take(session, BINDING_BYTES)) !== undefined
  }
}

async function take(session: TLSSocket, length: number): Promise<Buffer | undefined> {
  for (;;) {
    const bytes = session.read(length) as Buffer | null
    if (bytes !== null) return bytes
    if (session.closed || session.readableEnded) return undefined
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        session.off('readable', settle).off('close', settle).off('end', settle)
        resolve()
      }
      session.on('readable', settle).on('close', settle).on('end', settle)
    })
  }
}
