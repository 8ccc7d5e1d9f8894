// Two streams of each kind that a bridge joins, with the far end of each: what is written there comes out here.

import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { Session, type Stream, type Transport } from '@svc/yamux'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { StreamDuplex } from '../../src/core/reverse/stream-duplex.ts'

export interface Ends {
  /** The end that the bridge gets. */
  near: Duplex
  far: Duplex
}

type Opener = () => Promise<Ends>

const HOST = 'localhost'
const authority = createCa(HOST)
const { chain, key } = createLeaf(authority, HOST)

/** Name, the visitor's side, the session's side; for `describe.each`. */
export const KINDS: [string, Opener, Opener][] = [
  ['plain streams', duplexes, duplexes],
  ['TCP and TCP', tcp, tcp],
  ['TCP and TLS', tcp, tls],
  ['TCP and yamux', tcp, yamux],
]

async function duplexes(): Promise<Ends> {
  const [near, far] = duplexPair()
  breaksWith(near, far)
  breaksWith(far, near)
  return { near, far }
}

/** Unlike the ends of a socket, the sides of a pair get no event when the other one is destroyed. */
function breaksWith(side: Duplex, other: Duplex): void {
  side.setMaxListeners(0)
  other.once('close', () => {
    if (!other.readableEnded || !other.writableFinished) side.destroy()
  })
}

export async function tcp(): Promise<Ends> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  return await joined(server, 'connection', (port) => connect({ port, allowHalfOpen: true }))
}

/** A socket as the relay's API gets it from a native client. */
export async function tls(): Promise<Ends> {
  const server = createTlsServer({ cert: chain, key, allowHalfOpen: true })
  const options = { servername: HOST, ca: authority.certificate, allowHalfOpen: true }
  return await joined(server, 'secureConnection', (port) => connectTls({ port, ...options }))
}

async function joined(server: Server, event: string, open: (port: number) => Duplex): Promise<Ends> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = open((server.address() as { port: number }).port)
  const [near] = await once(server, event)
  server.close()
  for (const end of [near, far]) end.on('error', () => {}).setMaxListeners(0)
  return { near, far }
}

/** A stream as the relay gets it from a page, without the WebSocket. */
async function yamux(): Promise<Ends> {
  const { promise, resolve } = Promise.withResolvers<Stream>()
  const page: Session = new Session(
    transportTo(() => relay),
    { role: 'client' },
  )
  const relay: Session = new Session(
    transportTo(() => page),
    { role: 'server', onStream: resolve },
  )
  const far = new StreamDuplex(await page.open())
  far.setMaxListeners(0)
  return { near: new StreamDuplex(await promise), far }
}

/** A stream that takes one message a turn, as a busy WebSocket does. */
function transportTo(other: () => Session): Transport {
  return {
    send: (bytes) =>
      new Promise((resolve) => {
        setImmediate(() => {
          other().receive(bytes)
          resolve()
        })
      }),
    close: () => {},
  }
}
