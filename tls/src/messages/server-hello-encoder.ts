// Encodes ServerHello and HelloRetryRequest (RFC 8446 §4.1.3, §4.1.4).

import { EXTENSION, HANDSHAKE_TYPE, VERSION } from './constants.ts'
import { concat, extension, handshakeMessage, u8, u16, vector } from './writer.ts'

/** The Random that marks a HelloRetryRequest: the SHA-256 of that name (§4.1.3). */
export const HELLO_RETRY_REQUEST_RANDOM: Uint8Array = Uint8Array.from(
  [0xcf21ad74, 0xe59a6111, 0xbe1d8c02, 0x1e65b891, 0xc2a21116, 0x7abb8c5e, 0x079e09e2, 0xc8a8339c].flatMap(
    (word) => [word >>> 24, word >>> 16, word >>> 8, word],
  ),
)

export function encodeServerHello(hello: {
  random: Uint8Array
  sessionId: Uint8Array
  cipherSuite: number
  group: number
  keyExchange: Uint8Array
  /** The index of the accepted identity (§4.2.11). */
  selectedIdentity: number | undefined
}): Uint8Array {
  const share = extension(EXTENSION.key_share, u16(hello.group), vector(2, hello.keyExchange))
  const psk =
    hello.selectedIdentity === undefined
      ? new Uint8Array()
      : extension(EXTENSION.pre_shared_key, u16(hello.selectedIdentity))
  return encode(hello.random, hello.sessionId, hello.cipherSuite, share, psk)
}

/** Encodes the request for a key share of `group`. It has no cookie, because the server keeps its state. */
export function encodeHelloRetryRequest(hello: {
  sessionId: Uint8Array
  cipherSuite: number
  group: number
}): Uint8Array {
  const share = extension(EXTENSION.key_share, u16(hello.group))
  return encode(HELLO_RETRY_REQUEST_RANDOM, hello.sessionId, hello.cipherSuite, share)
}

function encode(random: Uint8Array, sessionId: Uint8Array, suite: number, ...more: Uint8Array[]): Uint8Array {
  const version = extension(EXTENSION.supported_versions, u16(VERSION.tls13))
  return handshakeMessage(
    HANDSHAKE_TYPE.server_hello,
    concat(u16(VERSION.tls12), random, vector(1, sessionId), u16(suite), u8(0), vector(2, version, ...more)),
  )
}
