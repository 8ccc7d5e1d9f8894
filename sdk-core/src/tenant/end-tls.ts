// TLS termination by the platform instead of the engine. It needs the site's own key.

import type { ProtocolVersion } from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'
import type { SiteKey } from '../certificate/site-key.ts'
import type { ClientCertificateCheck } from '../client-certificates/options.ts'
import type { TlsConnection } from './visitor-connection.ts'

/**
 * EndTls takes over a visitor's connection, from its first byte on.
 * @returns undefined when the engine must serve this connection, from which nothing was read
 */
export type EndTls = (stream: ByteStream, options: EndTlsOptions) => TlsConnection | undefined

/** EndTlsOptions are a site's TLS settings. */
export interface EndTlsOptions {
  /** The certificates as DER, leaf first. An identical array means the same certificate. */
  chain: readonly Uint8Array[]
  key: SiteKey
  /** The protocols of ALPN, the preferred one first. */
  alpn: readonly string[]
  minVersion: ProtocolVersion
  /** The deadline of the handshake, in milliseconds. */
  handshakeTimeoutMs: number
  /** Asks visitors for certificates, with `ca`, `crl` and `required`. */
  clientCertificates?: ClientCertificateCheck | undefined
  /** Called with the fields of each line of the NSS key log. */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}
