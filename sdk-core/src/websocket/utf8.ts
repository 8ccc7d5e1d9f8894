// Decodes UTF-8 strictly: text on the wire must be valid (RFC 6455 §8.1).

import { WebSocketError } from './errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes text.
 * @throws WebSocketError `invalid_utf8`
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new WebSocketError('invalid_utf8')
  }
}
