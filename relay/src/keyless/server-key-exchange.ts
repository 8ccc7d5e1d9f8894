// TLS 1.2: checks and composes what a tenant's ServerKeyExchange signs (RFC 8422 §5.4).

import type { ClientHello } from '@svc/tls/messages'
import { SignError } from './sign-error.ts'

export interface KeyExchange {
  clientRandom: Uint8Array
  serverRandom: Uint8Array
  /** ServerECDHParams. */
  params: Uint8Array
}

const TLS_1_2 = 0x0303
const RANDOM_BYTES = 32
/** ECCurveType named_curve; with it the structure is type, group, point length, point. */
const NAMED_CURVE = 3
const PARAMS_HEAD_BYTES = 4
/** Public value of each group that may be signed: x25519 raw, the others an uncompressed point. */
const POINT_BYTES: Readonly<Record<number, number>> = { 29: 32, 23: 65, 24: 97 }

/** @throws SignError when the client offers TLS 1.3, or anything is not of the form that TLS 1.2 gives it */
export function serverKeyExchangeContent(hello: ClientHello, exchange: KeyExchange): Uint8Array {
  // Whoever offers TLS 1.3 is served with it: signing 1.2 for such a client would sign a downgrade.
  if (hello.supportedVersions.some((version) => version > TLS_1_2 && !isGrease(version)))
    throw new SignError(403, 'client_hello offers a version above TLS 1.2')
  if (Buffer.compare(exchange.clientRandom, hello.random) !== 0)
    throw new SignError(403, 'client_random is not that of client_hello')
  if (exchange.serverRandom.length !== RANDOM_BYTES)
    throw new SignError(400, 'server_random must be 32 bytes')
  requireNamedCurve(Buffer.from(exchange.params))
  return Buffer.concat([exchange.clientRandom, exchange.serverRandom, exchange.params])
}

function requireNamedCurve(params: Buffer): void {
  const wellFormed =
    params.length > PARAMS_HEAD_BYTES &&
    params[0] === NAMED_CURVE &&
    params[3] === POINT_BYTES[params.readUInt16BE(1)] &&
    params.length === PARAMS_HEAD_BYTES + params[3]!
  if (!wellFormed)
    throw new SignError(400, 'server_ecdh_params must hold a public key of x25519, P-256 or P-384')
}

/** RFC 8701 §2. */
function isGrease(version: number): boolean {
  return (version & 0x0f0f) === 0x0a0a && version >> 8 === (version & 0xff)
}
