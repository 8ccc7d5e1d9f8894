// One visitor's connection: TLS ends here, in the page, and HTTP begins, in the version that was agreed on.

import type { ServerConfig } from '@svc/tls'
import type { ByteStream } from '../byte-stream.ts'
import { type HttpOptions, serveHttp } from '../http/connection.ts'
import { HTTP2, type ServeHttp } from './http2.ts'
import { TlsStream } from './tls-stream.ts'

/**
 * Settles when the connection is over. Never rejects: what a visitor does wrong concerns that visitor only.
 * @param serveHttp2 given when `tenant.alpn` has it
 */
export async function serveConnection(
  stream: ByteStream,
  tenant: ServerConfig,
  http: HttpOptions,
  serveHttp2?: ServeHttp,
): Promise<void> {
  const tls = new TlsStream(stream, tenant)
  try {
    const { alpn } = await tls.secure
    const serve = alpn === HTTP2 && serveHttp2 ? serveHttp2 : serveHttp
    await serve(tls, http)
  } catch (error) {
    tls.abort(error)
  }
}
