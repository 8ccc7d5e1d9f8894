// The 12-byte header that starts every frame (specification, "Framing"): all fields big-endian.

import { protocolError } from './errors.ts'
import * as FLAG from './frame-flags.ts'
import * as TYPE from './frame-types.ts'

export { FLAG, TYPE }

export const HEADER_BYTES = 12

const VERSION = 0

export type FrameType = (typeof TYPE)[keyof typeof TYPE]

/** The stream id of the session itself. */
export const SESSION_ID = 0

export interface FrameHeader {
  readonly type: FrameType
  /** The {@link FLAG} bits. Unknown ones are ignored. */
  readonly flags: number
  readonly streamId: number
  readonly length: number
}

/**
 * Reads a header.
 * @throws YamuxError for another version or an unknown type: the bytes after such a header cannot be parsed
 */
export function readHeader(source: Uint8Array, at: number): FrameHeader {
  const version = source[at]!
  if (version !== VERSION) throw protocolError('bad_version', `frame of version ${version}; only 0 is known`)
  const type = source[at + 1]!
  if (!isFrameType(type)) throw protocolError('bad_type', `frame of unknown type ${type}`)
  return {
    type,
    flags: (source[at + 2]! << 8) | source[at + 3]!,
    streamId: readUint32(source, at + 4),
    length: readUint32(source, at + 8),
  }
}

export function writeHeader(
  target: Uint8Array,
  at: number,
  type: FrameType,
  flags: number,
  streamId: number,
  length: number,
): void {
  target[at] = VERSION
  target[at + 1] = type
  target[at + 2] = flags >>> 8
  target[at + 3] = flags
  writeUint32(target, at + 4, streamId)
  writeUint32(target, at + 8, length)
}

function isFrameType(type: number): type is FrameType {
  return type <= TYPE.goAway
}

function readUint32(source: Uint8Array, at: number): number {
  return ((source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!) >>> 0
}

function writeUint32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}
