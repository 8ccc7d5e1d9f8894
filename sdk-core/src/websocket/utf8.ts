// Text on the wire is UTF-8, and nothing else passes for it (RFC 6455 §8.1).

import { WebSocketError } from './errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws WebSocketError `invalid_utf8` */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new WebSocketError('invalid_utf8')
  }
}
