// A browser's carrier by hand: the request for its WebSocket, the WebSocket's frames, and yamux's within them.
import { PATH, SUBPROTOCOL } from '@svc/protocol'
import type { Target } from './target.ts'

const FIN_BINARY = 0x82
const MASKED = 0x80
const LENGTH_16 = 126
const LENGTH_64 = 127

/** The request of RFC 6455 §4.1, as a browser's SDK makes it. */
export function webSocketRequest({ rootHost, port }: Target, capability: string): string {
  const lines = [
    `GET ${PATH.connect} HTTP/1.1`,
    `Host: ${rootHost}:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}, ${capability}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** A masked binary frame (RFC 6455 §5.2) with a mask of zeros, which leaves what it masks. */
export function webSocketFrame(payload: Uint8Array): Buffer {
  return Buffer.concat([webSocketHeader(payload.length), payload])
}

/** @returns the header of a frame that says it has this many bytes */
export function webSocketHeader(length: number): Buffer {
  const header = Buffer.alloc(length < LENGTH_16 ? 6 : length < 2 ** 16 ? 8 : 14)
  header[0] = FIN_BINARY
  if (length < LENGTH_16) header[1] = MASKED | length
  else if (length < 2 ** 16) {
    header[1] = MASKED | LENGTH_16
    header.writeUInt16BE(length, 2)
  } else {
    header[1] = MASKED | LENGTH_64
    header.writeUInt32BE(length, 6)
  }
  return header
}

export const YAMUX = { data: 0, window: 1, ping: 2 } as const
export const FLAG = { none: 0, syn: 1, ack: 2, fin: 4, reset: 8 } as const
/** Bytes that a yamux peer may send before the other side grants more (hashicorp's spec.md, "Flow Control"). */
export const YAMUX_WINDOW_BYTES: number = 256 * 1024

/** A yamux frame; its length is that of the payload, unless `value` says something else. */
export function yamuxFrame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
  value: number = payload.length,
): Buffer {
  const header = Buffer.alloc(12)
  header[1] = type
  header.writeUInt16BE(flags, 2)
  header.writeUInt32BE(stream, 4)
  header.writeUInt32BE(value, 8)
  return Buffer.concat([header, payload])
}

/** @returns the bytes with which a stream must begin: two bytes of length, and the capability */
export function capabilityBytes(capability: string): Buffer {
  const bytes = Buffer.from(`\0\0${capability}`)
  bytes.writeUInt16BE(bytes.length - 2)
  return bytes
}
