// The browser carrier: how a WebSocket on `/sdk/connect` is offered, and how each of its streams begins.

import { CAPABILITY_MAX_BYTES } from './limits.ts'

/** Offered first, and the only one a relay selects; the second offer is the capability itself. */
export const SUBPROTOCOL = 'svc.reverse.v1'

/** The relay's one-byte answer to a stream's capability. A rejected stream is closed after it. */
export const STREAM_ANSWER = { accepted: 0x00, rejected: 0x01 } as const

/** WebSocket close codes of the relay (RFC 6455 §7.4.2, private range). *Extension*: a client may ignore them. */
export const CARRIER_CLOSE = {
  /** The lease expired, was unregistered or is no longer allowed: register again. */
  leaseEnded: 4001,
  /** The same identity registered again elsewhere: that one owns the hostname now. */
  leaseReplaced: 4002,
} as const

/**
 * What a stream begins with: the capability's length (2 bytes, big-endian) and its bytes.
 * @throws RangeError when the capability is empty or longer than 8192 bytes
 */
export function encodeCapability(capability: string): Uint8Array {
  const text = new TextEncoder().encode(capability)
  if (text.length === 0 || text.length > CAPABILITY_MAX_BYTES)
    throw new RangeError(`capability of ${text.length} bytes; 1 to ${CAPABILITY_MAX_BYTES} are allowed`)
  const frame = new Uint8Array(2 + text.length)
  new DataView(frame.buffer).setUint16(0, text.length)
  frame.set(text, 2)
  return frame
}
