// Multiplexed carriers: a WebSocket's subprotocol, a native connection's upgrade, and the start of each stream.

import { CAPABILITY_MAX_BYTES } from './carrier-limits.ts'

/**
 * The client offers this subprotocol first, and a relay selects no other. The second offer is the capability itself.
 */
export const SUBPROTOCOL = 'svc.reverse.v1'

/**
 * A native client asks for this protocol in `Upgrade` on `/sdk/connect`: behind the `101`, the connection carries yamux,
 * and the client opens the streams, as on the browser carrier. *Extension* `native_yamux`.
 */
export const YAMUX_UPGRADE = 'yamux'

/** STREAM_ANSWER has the relay's one-byte answers to a stream's capability (docs/protocol.md §7.4). */
export const STREAM_ANSWER = {
  /** The stream is now a ready session, and markers follow. */
  accepted: 0x00,
  /** The relay closes the stream after this answer. */
  rejected: 0x01,
} as const

/**
 * CARRIER_CLOSE has the codes with which a relay closes a carrier: the close code of a WebSocket (RFC 6455 §7.4.2), or
 * the code of yamux's GoAway on a native connection. *Extension*: a client may ignore them.
 */
export const CARRIER_CLOSE = {
  /** The lease expired, was unregistered or is no longer allowed: register again. */
  leaseEnded: 4001,
  /** The same identity registered again elsewhere and has the hostname now. */
  leaseReplaced: 4002,
  /** This process of the relay shuts down: reconnect ("Service Restart" in IANA's registry of close codes). */
  serviceRestart: 1012,
} as const

/**
 * Encodes the start of a stream: the capability's length (2 bytes, big-endian) and its bytes.
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
