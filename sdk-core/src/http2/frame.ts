// The frame layer (RFC 9113 §4.1, §6): types, flags, and the encoding of frames.

import { FRAME_BYTES } from './limits.ts'

export const DATA = 0x0
export const HEADERS = 0x1
export const PRIORITY = 0x2
export const RST_STREAM = 0x3
export const SETTINGS = 0x4
export const PUSH_PROMISE = 0x5
export const PING = 0x6
export const GOAWAY = 0x7
export const WINDOW_UPDATE = 0x8
export const CONTINUATION = 0x9

export const END_STREAM = 0x01
export const ACK = 0x01
export const END_HEADERS = 0x04
export const PADDED = 0x08
export const PRIORITY_FLAG = 0x20

/** The number of octets before the payload. */
export const HEADER_BYTES = 9
/** The largest size of a window, and the largest stream identifier. */
export const MAX_31_BITS: number = 2 ** 31 - 1

export interface Frame {
  type: number
  flags: number
  streamId: number
  payload: Uint8Array
}

/** Writes the nine octets before a payload of `length` octets at `at`. */
export function writeHeader(
  into: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  into[at] = length >> 16
  into[at + 1] = length >> 8
  into[at + 2] = length
  into[at + 3] = type
  into[at + 4] = flags
  writeUint32(into, at + 5, streamId)
}

export function encodeFrame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array | readonly number[],
): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + payload.length)
  writeHeader(frame, 0, payload.length, type, flags, streamId)
  frame.set(payload, HEADER_BYTES)
  return frame
}

/** Encodes a frame with one number: RST_STREAM or WINDOW_UPDATE. */
export function encodeNumber(type: number, streamId: number, value: number): Uint8Array {
  const payload = new Uint8Array(4)
  writeUint32(payload, 0, value)
  return encodeFrame(type, 0, streamId, payload)
}

export function encodeGoAway(lastStreamId: number, code: number): Uint8Array {
  const payload = new Uint8Array(8)
  writeUint32(payload, 0, lastStreamId)
  writeUint32(payload, 4, code)
  return encodeFrame(GOAWAY, 0, 0, payload)
}

/** Encodes HEADERS and, when the block does not fit into one frame, CONTINUATIONs (§6.10). */
export function encodeHeaders(streamId: number, block: Uint8Array, isEnd: boolean): Uint8Array {
  const frames = Math.max(1, Math.ceil(block.length / FRAME_BYTES))
  const bytes = new Uint8Array(frames * HEADER_BYTES + block.length)
  for (let i = 0, at = 0; i < frames; i++) {
    const part = block.subarray(i * FRAME_BYTES, (i + 1) * FRAME_BYTES)
    const flags = (i === frames - 1 ? END_HEADERS : 0) | (i === 0 && isEnd ? END_STREAM : 0)
    writeHeader(bytes, at, part.length, i === 0 ? HEADERS : CONTINUATION, flags, streamId)
    bytes.set(part, at + HEADER_BYTES)
    at += HEADER_BYTES + part.length
  }
  return bytes
}

export function uint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

/** Reads 31 bits. Ignores the highest bit, which is reserved. */
export function uint31(bytes: Uint8Array, at: number): number {
  return uint32(bytes, at) & MAX_31_BITS
}

function writeUint32(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 24
  into[at + 1] = value >>> 16
  into[at + 2] = value >>> 8
  into[at + 3] = value
}
