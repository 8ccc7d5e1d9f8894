// Base64 with `btoa` and `atob`, because not all platforms have `Uint8Array.toBase64` yet.

import { decodeLatin1, encodeLatin1 } from './latin1.ts'

export function toBase64(bytes: Uint8Array): string {
  return btoa(decodeLatin1(bytes))
}

/** @returns undefined when `text` is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return encodeLatin1(atob(text))
  } catch {
    return undefined
  }
}
