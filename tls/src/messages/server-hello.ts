// Parses ServerHello and HelloRetryRequest (RFC 8446 §4.1.3, §4.1.4).

import { EXTENSION, HANDSHAKE_TYPE, VERSION } from './constants.ts'
import { DecodeError } from './errors.ts'
import { type Extensions, openMessage, readExtensions } from './extensions.ts'
import { Reader } from './reader.ts'
import { HELLO_RETRY_REQUEST_RANDOM } from './server-hello-encoder.ts'

/** ServerHello is the ServerHello message (RFC 8446 §4.1.3). Byte fields are views into the message. */
export interface ServerHello {
  random: Uint8Array
  /** The field legacy_session_id_echo. */
  sessionId: Uint8Array
  cipherSuite: number
  /** The version in supported_versions. Undefined when the server chose TLS 1.2 or less. */
  selectedVersion: number | undefined
  isHelloRetryRequest: boolean
  extensions: Extensions
}

/**
 * Parses a whole ServerHello or HelloRetryRequest, header included.
 * @throws DecodeError
 */
export function parseServerHello(message: Uint8Array): ServerHello {
  const reader = openMessage(message, HANDSHAKE_TYPE.server_hello, 'ServerHello')
  if (reader.u16() !== VERSION.tls12)
    throw new DecodeError('illegal_parameter', 'legacy_version of ServerHello is not 0x0303')
  const random = reader.bytes(32)
  const sessionId = reader.vector(1)
  if (sessionId.length > 32) throw new DecodeError('decode_error', 'a session id over 32 bytes')
  const cipherSuite = reader.u16()
  if (reader.u8() !== 0) throw new DecodeError('illegal_parameter', 'ServerHello selects a compression')
  const extensions: Extensions = reader.done ? new Map() : readExtensions(reader, 'ServerHello')
  reader.end()
  return {
    random,
    sessionId,
    cipherSuite,
    selectedVersion: parseSelectedVersion(extensions.get(EXTENSION.supported_versions)),
    isHelloRetryRequest: random.every((byte, i) => byte === HELLO_RETRY_REQUEST_RANDOM[i]),
    extensions,
  }
}

function parseSelectedVersion(body: Uint8Array | undefined): number | undefined {
  if (body === undefined) return undefined
  const reader = new Reader(body, 'supported_versions')
  const version = reader.u16()
  reader.end()
  return version
}
