// Reads and writes the fields of x402: Base64 of JSON. Some clients write base64url or plain JSON.

import { fromBase64, toBase64 } from '../bytes/base64.ts'

/** Base64, or base64url, with or without its padding. */
const BASE64 = /^[A-Za-z\d+/_-]+={0,2}$/

/** @returns Base64 of the JSON of `message`, as fields carry it */
export function encodeMessage(message: object): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(message)))
}

/** @returns undefined for text that is not a message */
export function decodeMessage(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('{') ? text : decoded(text))
  } catch {
    return undefined
  }
}

function decoded(text: string): string {
  const bytes = BASE64.test(text) ? fromBase64(text.replaceAll('-', '+').replaceAll('_', '/')) : undefined
  return bytes ? new TextDecoder('utf-8', { fatal: true }).decode(bytes) : ''
}
