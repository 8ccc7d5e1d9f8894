// Sends response bodies in pieces, each after the client has taken the previous one, within bounds of memory.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { RequestMemory } from '../../rate-limit/request-memory.ts'

/** Bytes of a body that the relay sends before the client has taken the previous ones. */
export const BODY_CHUNK_BYTES: number = 64 * 1024
/**
 * Bytes that response bodies on their way to one network may hold. Each holds two chunks of `BODY_CHUNK_BYTES`, one
 * of them encrypted.
 */
export const RESPONSE_BYTES_PER_NETWORK_MAX: number = 16 * 1024 * 1024
/** The same for all clients. */
const RESPONSE_BYTES_MAX = 256 * 1024 * 1024
/** Response bodies up to this size do not count, since the kernel accepts them whole. */
export const RESPONSE_UNCOUNTED_BYTES: number = 16 * 1024

export interface Outgoing {
  status: number
  headers: Record<string, string>
  /** Size of the body in bytes, and its pieces of at most {@link BODY_CHUNK_BYTES}. */
  size: number
  pieces: AsyncGenerator<Buffer>
}

export class BodyWriter {
  readonly #clientOf: (request: IncomingMessage) => string
  readonly #memory: RequestMemory

  /** @param clientOf identifies the client of a request: the bytes in flight to each client are bounded */
  constructor(
    clientOf: (request: IncomingMessage) => string,
    memory: RequestMemory = new RequestMemory({
      perClient: RESPONSE_BYTES_PER_NETWORK_MAX,
      total: RESPONSE_BYTES_MAX,
    }),
  ) {
    this.#clientOf = clientOf
    this.#memory = memory
  }

  /**
   * Resolves when the client has taken the whole body or closed the connection. The response to HEAD has no body.
   * @throws RelayError `rate_limited` when too many bytes are in flight to the client or to all. An error of
   * the first piece is thrown before anything is sent.
   */
  async send(
    request: IncomingMessage,
    response: ServerResponse,
    { status, headers, size, pieces }: Outgoing,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      response.writeHead(status, headers).end()
      return
    }
    const share = this.#memory.share(this.#clientOf(request))
    if (size > RESPONSE_UNCOUNTED_BYTES) share.resize(2 * Math.min(size, BODY_CHUNK_BYTES))
    try {
      await sendPieces(response, status, headers, pieces)
    } finally {
      share.release()
    }
  }
}

/** Splits a body in memory into pieces. */
export async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += BODY_CHUNK_BYTES) yield body.subarray(at, at + BODY_CHUNK_BYTES)
}

async function sendPieces(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  pieces: AsyncGenerator<Buffer>,
): Promise<void> {
  const first = await pieces.next()
  if (response.destroyed) {
    await pieces.return(undefined)
    return
  }
  response.writeHead(status, headers)
  if (first.done) {
    response.end()
    return
  }
  try {
    await pipeline(prepend(first.value, pieces), response)
  } catch (error) {
    // A client that closes the connection is not an error.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}
