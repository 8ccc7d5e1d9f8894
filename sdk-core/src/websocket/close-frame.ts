// The payload of a Close frame: a status code and a reason, or nothing (RFC 6455 §5.5.1, §7.4).

import { WebSocketError } from './errors.ts'
import { decodeUtf8 } from './utf8.ts'

/** The code for a Close frame without a status code. It is never on the wire (§7.1.5). */
export const NO_STATUS = 1005
/** The code for an end without a Close frame. It is never on the wire. */
export const ABNORMAL = 1006
export const GOING_AWAY = 1001

export interface CloseStatus {
  code: number
  reason: string
}

/**
 * Returns whether a Close frame may carry the code: registered codes for the wire, and application codes
 * (§7.4.2).
 */
export function isCloseCode(code: number): boolean {
  const isRegistered = code >= 1000 && code <= 1014 && (code < 1004 || code > ABNORMAL)
  return Number.isInteger(code) && (isRegistered || (code >= 3000 && code <= 4999))
}

/**
 * Parses the payload.
 * @throws WebSocketError `invalid_close` or `invalid_utf8`
 */
export function parseClose(payload: Uint8Array): CloseStatus {
  if (payload.length === 0) return { code: NO_STATUS, reason: '' }
  const code = ((payload[0] ?? 0) << 8) | (payload[1] ?? 0)
  if (payload.length < 2 || !isCloseCode(code)) throw new WebSocketError('invalid_close')
  return { code, reason: decodeUtf8(payload.subarray(2)) }
}

export function encodeClose({ code, reason }: CloseStatus): Uint8Array {
  if (code === NO_STATUS) return new Uint8Array(0)
  const text = new TextEncoder().encode(reason)
  const payload = new Uint8Array(2 + text.length)
  payload.set([code >> 8, code & 0xff])
  payload.set(text, 2)
  return payload
}
