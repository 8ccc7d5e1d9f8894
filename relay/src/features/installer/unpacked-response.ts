// Sends the content of a gzip file to clients that do not accept the coding, in pieces and without ranges.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { BODY_CHUNK_BYTES, type BodyWriter } from '../../core/api/http/body-writer.ts'
import type { FileHeaders } from '../../core/api/http/file-response.ts'
import { readPieces, type StoredFile } from '../../core/api/http/stored-file.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import { isKnown } from '../../core/http/entity-tag.ts'
import { RequestMemory } from '../../core/rate-limit/request-memory.ts'

/**
 * Downloads of the installer that are being unpacked for clients of one network that do not accept gzip. Unpacking 168 MB
 * takes a second of one core, and 110 KB of memory while it lasts.
 */
export const UNPACKED_RESPONSES_PER_NETWORK_MAX = 2
/** The same for all clients. */
const UNPACKED_RESPONSES_MAX = 16
const OK = 200
const NOT_MODIFIED = 304

export class UnpackedResponses {
  readonly #writer: BodyWriter
  readonly #clientAddresses: ClientAddresses
  /** Counts responses instead of bytes, since all take the same memory. */
  readonly #open = new RequestMemory({
    perClient: UNPACKED_RESPONSES_PER_NETWORK_MAX,
    total: UNPACKED_RESPONSES_MAX,
  })

  constructor(writer: BodyWriter, clientAddresses: ClientAddresses) {
    this.#writer = writer
    this.#clientAddresses = clientAddresses
  }

  /**
   * @throws RelayError `rate_limited` when the limit of the client's network, or of all clients, is reached
   */
  async send(
    request: IncomingMessage,
    response: ServerResponse,
    file: StoredFile,
    { content, common }: FileHeaders,
  ): Promise<void> {
    // The tag differs from that of the gzip file (RFC 9110 §8.8.3.3).
    const tag = `"${file.version}-unpacked"`
    const always = { ...common, ETag: tag, 'Last-Modified': file.modified.toUTCString() }
    if (isKnown(request.headers['if-none-match'], tag)) {
      response.writeHead(NOT_MODIFIED, always).end()
      return
    }
    const headers = { ...always, ...content, 'Accept-Ranges': 'none' }
    if (request.method === 'HEAD') {
      response.writeHead(OK, headers).end()
      return
    }
    const share = this.#open.share(networkOf(this.#clientAddresses.ofRequest(request)))
    share.resize(1)
    try {
      const pieces = unpack(file)
      await this.#writer.send(request, response, { status: OK, headers, size: file.size, pieces })
    } finally {
      share.release()
    }
  }
}

async function* unpack(file: StoredFile): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: BODY_CHUNK_BYTES })
  const packed = Readable.from(readPieces(file, { start: 0, end: file.size - 1 }), { objectMode: false })
  // An error reaches the reader of `gunzip`, since the pipeline destroys it with that error.
  const ended = pipeline(packed, gunzip).catch(() => {})
  try {
    yield* gunzip
  } finally {
    gunzip.destroy()
    await ended
  }
}
