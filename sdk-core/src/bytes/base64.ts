// Base64 of bytes with web-standard functions; `Uint8Array.toBase64` is not everywhere yet.

/** One call of `fromCharCode` gets so many arguments: engines limit them. */
const CHUNK = 8192

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text)
}

/** @returns undefined when `text` is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
