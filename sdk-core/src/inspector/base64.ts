// Base64 (RFC 4648 §4) of bytes.

import { SvcError } from '../errors.ts'

/** Bytes that are converted at once: a call has a limit of arguments. */
const STEP = 0x8000

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += STEP)
    text += String.fromCharCode(...bytes.subarray(at, at + STEP))
  return btoa(text)
}

/** @throws SvcError `invalid_option` */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch (cause) {
    throw new SvcError('invalid_option', 'the content is not base64', { cause })
  }
}
