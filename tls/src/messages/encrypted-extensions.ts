// Parses and encodes EncryptedExtensions (RFC 8446 §4.3.1).

import { parseAlpn } from './client-hello.ts'
import { EXTENSION, HANDSHAKE_TYPE } from './constants.ts'
import { DecodeError } from './errors.ts'
import { type Extensions, openMessage, readExtensions } from './extensions.ts'
import { extension, handshakeMessage, u16, vector } from './writer.ts'

/** EncryptedExtensions is the EncryptedExtensions message (RFC 8446 §4.3.1). */
export interface EncryptedExtensions {
  extensions: Extensions
  /** The protocol that the server selected (RFC 7301 §3.1). */
  alpn: string | undefined
}

/**
 * Parses a whole EncryptedExtensions message, header included.
 * @throws DecodeError
 */
export function parseEncryptedExtensions(message: Uint8Array): EncryptedExtensions {
  const reader = openMessage(message, HANDSHAKE_TYPE.encrypted_extensions, 'EncryptedExtensions')
  const extensions = readExtensions(reader, 'EncryptedExtensions')
  reader.end()
  const body = extensions.get(EXTENSION.application_layer_protocol_negotiation)
  const selected = body && parseAlpn(body)
  if (selected !== undefined && selected.length !== 1)
    throw new DecodeError('illegal_parameter', 'EncryptedExtensions selects several protocols')
  return { extensions, alpn: selected?.[0] }
}

export function encodeEncryptedExtensions(options: {
  /** Adds an empty server_name, which says that the name was used (RFC 6066 §3). */
  serverName: boolean
  alpn: string | undefined
  recordSizeLimit: number | undefined
}): Uint8Array {
  const { serverName, alpn, recordSizeLimit } = options
  const extensions: Uint8Array[] = []
  if (serverName) extensions.push(extension(EXTENSION.server_name))
  if (alpn !== undefined) {
    const name = Uint8Array.from(alpn, (char) => char.charCodeAt(0))
    extensions.push(extension(EXTENSION.application_layer_protocol_negotiation, vector(2, vector(1, name))))
  }
  if (recordSizeLimit !== undefined)
    extensions.push(extension(EXTENSION.record_size_limit, u16(recordSizeLimit)))
  return handshakeMessage(HANDSHAKE_TYPE.encrypted_extensions, vector(2, ...extensions))
}
