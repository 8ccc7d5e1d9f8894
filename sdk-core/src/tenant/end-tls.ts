// Ends a visitor's TLS with what the platform has for it, in place of the engine: it needs the site's own key.

import type { ProtocolVersion } from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'
import type { SiteKey } from '../certificate/site-key.ts'
import type { TlsConnection } from './visitor-connection.ts'

/**
 * EndTls takes over a visitor's connection, from its first byte on.
 * @returns undefined when the engine has to serve this connection: nothing was read from it
 */
export type EndTls = (stream: ByteStream, options: EndTlsOptions) => TlsConnection | undefined

/** EndTlsOptions say how a site speaks TLS. */
export interface EndTlsOptions {
  /** The certificates as DER, leaf first. The same array stands for the same certificate. */
  chain: readonly Uint8Array[]
  key: SiteKey
  /** The protocols of ALPN, the preferred one first. */
  alpn: readonly string[]
  minVersion: ProtocolVersion
  /** Milliseconds until the handshake has to be done. */
  handshakeTimeoutMs: number
  /** Called with the fields of each line of the NSS key log. */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}
