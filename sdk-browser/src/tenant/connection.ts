// One visitor's connection: TLS ends here, in the page, and HTTP begins.

import type { ServerConfig } from '@svc/tls'
import type { ByteStream } from '../byte-stream.ts'
import { type HttpOptions, serveHttp } from '../http/connection.ts'
import { TlsStream } from './tls-stream.ts'

/** Settles when the connection is over. Never rejects: what a visitor does wrong concerns that visitor only. */
export async function serveConnection(
  stream: ByteStream,
  tenant: ServerConfig,
  http: HttpOptions,
): Promise<void> {
  const tls = new TlsStream(stream, tenant)
  try {
    await tls.secure
    await serveHttp(tls, http)
  } catch (error) {
    tls.abort(error)
  }
}
