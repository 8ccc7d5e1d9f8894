// One visitor's connection: TLS is terminated here, in the SDK, and HTTP begins, in the version that ALPN chose.

import type { ClientCertificate } from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { serveHttp1 } from '../http1/connection.ts'
import type { LimitedConnection } from './connection-limiter.ts'
import { HTTP2, type ServeHttp } from './load-http2.ts'

/** A SecureStream is a visitor's connection after its handshake. */
export interface SecureStream extends ByteStream {
  exportKeyingMaterial(label: string, length: number): Uint8Array
}

/** A SecureInfo is what a handshake agreed on. */
export interface SecureInfo {
  /** The protocol that ALPN chose. */
  readonly alpn: string | undefined
  /** The visitor's certificate, which was verified. */
  readonly clientCertificate?: ClientCertificate | undefined
}

/** A TlsConnection is a visitor's connection from the first byte of its handshake. */
export interface TlsConnection extends SecureStream {
  /** Resolves when the handshake is done. Rejects when it fails. */
  readonly secure: Promise<SecureInfo>
}

/**
 * Admit inspects a connection before HTTP starts.
 * @returns the stream for HTTP; undefined when the connection was not a visitor's
 */
export type Admit = (stream: SecureStream) => Promise<ByteStream | undefined>

interface ServeOptions {
  /** Serves HTTP/2. It is set when HTTP/2 was offered by ALPN. */
  serveHttp2?: ServeHttp | undefined
  admit?: Admit | undefined
  /** The limiter's record, through which the limiter may abort the connection. */
  connection?: LimitedConnection | undefined
}

/**
 * Serves HTTP on a connection. Settles when it is over, and never rejects: a visitor's errors concern that visitor
 * only.
 */
export async function serveConnection(
  tls: TlsConnection,
  http: HttpOptions,
  { serveHttp2, admit, connection }: ServeOptions = {},
): Promise<void> {
  if (connection) connection.abort = () => tls.abort(new Error('closed for another connection'))
  try {
    const { alpn, clientCertificate } = await tls.secure
    const serve = alpn === HTTP2 && serveHttp2 ? serveHttp2 : serveHttp1
    const admitted = admit ? await admit(tls) : tls
    if (admitted) await serve(admitted, { ...http, visitor: { ...http.visitor, clientCertificate } })
  } catch (error) {
    tls.abort(error)
  }
}
