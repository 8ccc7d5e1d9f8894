// Parses the header of a frame (RFC 6455 §5.2) as strictly as a server has to, and encodes it.

import { WebSocketError } from './errors.ts'
import { CONTROL_MAX_BYTES } from './limits.ts'

export const CONTINUATION = 0x0
export const TEXT = 0x1
export const BINARY = 0x2
export const CLOSE = 0x8
export const PING = 0x9
export const PONG = 0xa

const FIN = 0x80
/** The bit that marks the first frame of a compressed message (RFC 7692 §6). */
const RSV1 = 0x40
const RSV = 0x70
const MASK = 0x80
const MASK_BYTES = 4
/** The values of the 7-bit length that announce a longer field, and the smallest length for each. */
const LENGTH_16 = 126
const LENGTH_64 = 127
const MIN_64 = 0x10000

const OPCODES: ReadonlySet<number> = new Set([CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG])

export interface FrameHeader {
  fin: boolean
  opcode: number
  /** True when a compressed message begins with this frame. */
  compressed: boolean
  /** The length of the payload in bytes. Beyond 2^53 it is inexact, but exceeds any limit. */
  length: number
  mask: Uint8Array
  /** The size of the header itself, in bytes. */
  size: number
}

export function isControl(opcode: number): boolean {
  return opcode >= CLOSE
}

/**
 * Returns the header at the start of `bytes`, or undefined when it is incomplete.
 * @param mayCompress whether permessage-deflate was negotiated
 * @throws WebSocketError as soon as the first two bytes, or the length, show an error
 */
export function parseHeader(bytes: Uint8Array, mayCompress: boolean): FrameHeader | undefined {
  if (bytes.length < 2) return undefined
  const first = bytes[0]!
  const second = bytes[1]!
  const fin = (first & FIN) !== 0
  const opcode = first & 0x0f
  const short = second & 0x7f
  const compressed = mayCompress && (opcode === TEXT || opcode === BINARY) && (first & RSV) === RSV1
  if ((first & RSV) !== 0 && !compressed) throw new WebSocketError('reserved_bits')
  if (!OPCODES.has(opcode)) throw new WebSocketError('reserved_opcode')
  if ((second & MASK) === 0) throw new WebSocketError('unmasked_frame')
  if (isControl(opcode) && !fin) throw new WebSocketError('fragmented_control')
  if (isControl(opcode) && short > CONTROL_MAX_BYTES) throw new WebSocketError('control_too_long')

  const maskAt = 2 + extraLengthBytes(short)
  if (bytes.length < maskAt) return undefined
  const length = readLength(bytes, short)
  const size = maskAt + MASK_BYTES
  if (bytes.length < size) return undefined
  return { fin, opcode, compressed, length, mask: bytes.slice(maskAt, size), size }
}

/** Encodes the header of a whole message or a control frame of the server: FIN set, not masked (§5.1). */
export function encodeHeader(opcode: number, length: number, compressed = false): Uint8Array {
  const short = length < LENGTH_16 ? length : length < MIN_64 ? LENGTH_16 : LENGTH_64
  const header = new Uint8Array(2 + extraLengthBytes(short))
  const view = new DataView(header.buffer)
  header[0] = FIN | (compressed ? RSV1 : 0) | opcode
  header[1] = short
  if (short === LENGTH_16) view.setUint16(2, length)
  if (short === LENGTH_64) view.setBigUint64(2, BigInt(length))
  return header
}

function extraLengthBytes(short: number): number {
  return short === LENGTH_64 ? 8 : short === LENGTH_16 ? 2 : 0
}

/**
 * Reads the length. "The minimal number of bytes MUST be used", and the most significant bit of 64 must be 0 (§5.2).
 */
function readLength(bytes: Uint8Array, short: number): number {
  if (short < LENGTH_16) return short
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isLong = short === LENGTH_64
  const length = isLong ? Number(view.getBigUint64(2)) : view.getUint16(2)
  const isSigned = isLong && bytes[2]! > 0x7f
  if (isSigned || length < (isLong ? MIN_64 : LENGTH_16)) throw new WebSocketError('invalid_length')
  return length
}
