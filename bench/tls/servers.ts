// The two servers under test behind one interface: our engine with Node's crypto, and node:tls, each over a Duplex.
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'
import { TicketSealer, TlsServer } from '@svc/tls'
import { nodeCrypto } from '../../sdk-node/src/tls/node-crypto.ts'
import type { Identity } from './identity.ts'

/** A connection whose handshake is done and whose client has said something. */
export interface Connection {
  /** Waits while the transport is full. */
  write(bytes: Uint8Array): Promise<void>
  /** Settles when all has left. */
  end(): Promise<void>
}

/** Serves one connection; `onRequest` is called with the first data of the client. */
export type Server = (transport: Duplex, onRequest: (connection: Connection) => void) => void

export function ourServer({ config }: Identity): Server {
  const tickets = new TicketSealer({ crypto: nodeCrypto })
  return (transport, onRequest) => {
    const tls = new TlsServer(
      { ...config, crypto: nodeCrypto, tickets },
      {
        send: (bytes) => void transport.write(bytes),
        secure: () => {},
        data: () => onRequest({ write: writer(transport, (bytes) => tls.write(bytes)), end }),
        end: () => tls.end(),
        close: () => transport.end(),
      },
    )
    const end = async (): Promise<void> => {
      await tls.end()
      transport.end()
      await finished(transport)
    }
    transport.on('data', (bytes) => tls.receive(bytes))
    transport.on('end', () => tls.receiveEnd())
    transport.on('error', () => tls.receiveEnd())
  }
}

export function nodeServer({ certificate, key }: Identity): Server {
  // Its ticket keys live in the context: one for all connections, as tls.createServer has it.
  const secureContext = createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.3' })
  return (transport, onRequest) => {
    const tls = new TLSSocket(transport as never, { isServer: true, secureContext })
    tls.on('data', () => onRequest({ write: writer(tls, (bytes) => void tls.write(bytes)), end }))
    const end = async (): Promise<void> => {
      tls.end()
      await finished(tls)
    }
    tls.on('error', () => {})
  }
}

function writer(
  stream: Duplex,
  write: (bytes: Uint8Array) => void | Promise<void>,
): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    await write(bytes)
    if (stream.writableNeedDrain) await once(stream, 'drain')
  }
}

async function finished(stream: Duplex): Promise<void> {
  if (!stream.writableFinished) await once(stream, 'finish')
}
