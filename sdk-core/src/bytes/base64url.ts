// Base64url without padding (RFC 4648 §5).

import { toBase64 } from './base64.ts'

export function base64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
