// Forwards connections to the API, decrypted, from a worker process to the primary process: each is a yamux stream of the
// one socket pair between the two. The pair has no name in any file system, so no other program can connect to it.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Session, type SessionOptions, type Stream, type Transport } from '@svc/yamux'
import type { Pipe } from '../../core/bridge/pipe.ts'
import { Bandwidth } from '../../core/rate-limit/bandwidth.ts'
import { StreamDuplex } from '../../core/reverse/stream-duplex.ts'

/**
 * Connections to the API that one worker process forwards to the primary process at once. It closes any further one.
 */
export const FORWARDED_CONNECTIONS_MAX = 4_096

/** Descriptor of the channel in a worker process, after the three standard ones and the one of messages. */
export const API_CHANNEL_FD = 4

const LENGTH_BYTES = 1
const UNLIMITED = new Bandwidth(() => 0)

/** A connection for the API server, with the client address that the worker process knows. */
class ForwardedConnection extends StreamDuplex {
  readonly remoteAddress: string
  readonly #stream: Stream

  constructor(stream: Stream, clientIp: string) {
    super(stream)
    this.#stream = stream
    this.remoteAddress = clientIp
  }

  /** As with a socket, a response that was ended before still arrives. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (error === null && this.writableFinished) {
      void discard(this.#stream)
      done(null)
    } else super._destroy(error, done)
  }
}

/** Receives connections in the primary process. @param serve called with each connection */
export function receiveForwarded(socket: Socket, serve: (connection: Duplex) => void): void {
  openSession(socket, { role: 'server', onStream: (stream) => void receive(stream, serve) })
}

/** Forwards connections from a worker process. */
export class Forwarder {
  readonly #session: Session
  readonly #pipe: Pipe

  constructor(socket: Socket, pipe: Pipe) {
    this.#pipe = pipe
    this.#session = openSession(socket, { role: 'client' })
  }

  /** Resolves when the connection is closed. @param clientIp normalized address of the client */
  async forward(client: Socket, clientIp: string): Promise<void> {
    const stream = new StreamDuplex(await this.#session.open())
    stream.write(Buffer.concat([Buffer.of(clientIp.length), Buffer.from(clientIp)]))
    // The API has ended its side, and reads nothing more.
    stream.once('end', () => client.destroySoon())
    await this.#pipe(client, stream, UNLIMITED)
  }
}

/** Discards what arrives until the worker process closes the stream, too. */
async function discard(stream: Stream): Promise<void> {
  try {
    while ((await stream.read()) !== undefined);
  } catch {}
}

async function receive(stream: Stream, serve: (connection: Duplex) => void): Promise<void> {
  let received = Buffer.alloc(0)
  for (;;) {
    const bytes = await stream.read().catch(() => undefined)
    if (bytes === undefined) return stream.abort()
    received = Buffer.concat([received, bytes])
    const end = LENGTH_BYTES + (received[0] ?? 0)
    if (received.length < end) continue
    const connection = new ForwardedConnection(stream, received.toString('latin1', LENGTH_BYTES, end))
    if (received.length > end) connection.unshift(received.subarray(end))
    return serve(connection)
  }
}

function openSession(socket: Socket, options: SessionOptions): Session {
  const session = new Session(transportOver(socket), {
    ...options,
    maxStreams: FORWARDED_CONNECTIONS_MAX,
    // The processes ping each other, so the socket pair needs no keepalive.
    keepAliveIntervalMs: 0,
  })
  socket.on('data', (bytes: Buffer) => session.receive(bytes))
  socket.on('error', () => {})
  socket.on('close', () => session.transportClosed())
  return session
}

function transportOver(socket: Socket): Transport {
  return {
    send: (bytes) => {
      if (socket.write(bytes)) return
      return new Promise((resolve) => socket.once('drain', resolve))
    },
    close: () => socket.destroy(),
  }
}
