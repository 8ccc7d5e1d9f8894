// A TCP socket as a byte stream, so that real clients can visit.

import { createServer, type Server, type Socket } from 'node:net'
import type { ByteStream } from '../../src/bytes/byte-stream.ts'
import type { HttpOptions } from '../../src/exchange/http-options.ts'
import { serveHttp1 } from '../../src/http1/connection.ts'

export class SocketStream implements ByteStream {
  readonly #socket: Socket
  readonly #chunks: AsyncIterator<Buffer>

  constructor(socket: Socket) {
    this.#socket = socket
    this.#chunks = socket[Symbol.asyncIterator]()
    socket.on('error', () => {}) // reads and writes tell
  }

  async read(): Promise<Uint8Array | undefined> {
    const { value, done } = await this.#chunks.next()
    return done ? undefined : value
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.end(resolve)
    })
  }

  abort(): void {
    this.#socket.destroy()
  }
}

/**
 * A server on a free port of the loopback interface.
 * @param urlPort the port of the site's URL; without it, the port that the server got
 */
export async function listen(
  options: HttpOptions,
  serve: typeof serveHttp1 = serveHttp1,
  urlPort?: number,
): Promise<{ server: Server; port: number }> {
  const own = { ...options }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    serve(new SocketStream(socket), own),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(options.canonicalUrl)
  url.port = String(urlPort ?? address.port)
  own.canonicalUrl = url.href
  return { server, port: address.port }
}
