// The engine on one TCP connection.

import type { Socket } from 'node:net'
import { type ConnectionInfo, type ServerConfig, type TlsError, TlsServer } from '../../src/index.ts'

/** One connection as the server sees it. */
export interface Session {
  tls: TlsServer
  socket: Socket
  info: ConnectionInfo | undefined
  /** Settles with `close`. */
  closed: Promise<TlsError | undefined>
}

export interface Handlers {
  secure?(session: Session): void
  data?(session: Session, bytes: Uint8Array): void
  end?(session: Session): void
}

/** `chunk`: bytes that the engine is given at a time. */
export function serve(config: ServerConfig, handlers: Handlers, socket: Socket, chunk: number): Session {
  const { promise: closed, resolve } = Promise.withResolvers<TlsError | undefined>()
  const session: Session = {
    socket,
    info: undefined,
    closed,
    tls: new TlsServer(config, {
      send: (bytes) => socket.write(bytes),
      secure: (info) => {
        session.info = info
        handlers.secure?.(session)
      },
      data: (bytes) => handlers.data?.(session, bytes),
      end: () => {
        handlers.end?.(session)
        session.tls.end()
      },
      close: (error) => {
        resolve(error)
        socket.end()
      },
    }),
  }
  // A client that resets the connection is a truncation like any other.
  socket.on('error', () => session.tls.receiveEnd())
  void pump(session, chunk)
  return session
}

async function pump({ socket, tls }: Session, chunk: number): Promise<void> {
  try {
    for await (const bytes of socket as AsyncIterable<Uint8Array>)
      for (let at = 0; at < bytes.length; at += chunk) await tls.receive(bytes.subarray(at, at + chunk))
  } catch {
    // The 'error' listener has told the engine.
  }
  tls.receiveEnd()
}
