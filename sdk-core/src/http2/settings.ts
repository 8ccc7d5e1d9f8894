// SETTINGS (RFC 9113 §6.5; RFC 8441 §3; RFC 9218 §2.1): the SDK's own, and the visitor's that matter here.

import { HEAD_BYTES } from '../semantics/limits.ts'
import { Http2Error } from './errors.ts'
import { encodeFrame, MAX_31_BITS, SETTINGS, uint32 } from './frame.ts'
import { FRAME_BYTES, STREAM_WINDOW_BYTES, STREAMS_MAX } from './limits.ts'

const HEADER_TABLE_SIZE = 0x1
const ENABLE_PUSH = 0x2
const MAX_CONCURRENT_STREAMS = 0x3
const INITIAL_WINDOW_SIZE = 0x4
const MAX_FRAME_SIZE = 0x5
const MAX_HEADER_LIST_SIZE = 0x6
const ENABLE_CONNECT_PROTOCOL = 0x8
const NO_RFC7540_PRIORITIES = 0x9

/** A setting on the wire has two octets of identifier and four of value. */
const SETTING_BYTES = 6
const MAX_FRAME_SIZE_MAX: number = 2 ** 24 - 1
/** The initial size of every window, unless a setting changes it (§6.9.2). */
export const INITIAL_WINDOW_BYTES = 65_535

/**
 * VisitorSettings has the settings that changed, and undefined for others. The frame size limit does not matter: the
 * SDK's frames are small enough.
 */
export interface VisitorSettings {
  headerTableSize: number | undefined
  initialWindowSize: number | undefined
}

export const OUR_SETTINGS: Uint8Array = encodeFrame(
  SETTINGS,
  0,
  0,
  [
    [MAX_CONCURRENT_STREAMS, STREAMS_MAX],
    [INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES],
    [MAX_HEADER_LIST_SIZE, HEAD_BYTES],
    [ENABLE_CONNECT_PROTOCOL, 1],
    [NO_RFC7540_PRIORITIES, 1],
  ].flatMap(([id, value]) => [
    0,
    id!,
    value! >>> 24,
    (value! >>> 16) & 0xff,
    (value! >>> 8) & 0xff,
    value! & 0xff,
  ]),
)

/**
 * Parses SETTINGS. If a setting occurs twice, the last one wins.
 * @throws Http2Error
 */
export function parseSettings(payload: Uint8Array): VisitorSettings {
  if (payload.length % SETTING_BYTES !== 0) throw new Http2Error('invalid_frame_size')
  const settings: VisitorSettings = { headerTableSize: undefined, initialWindowSize: undefined }
  for (let at = 0; at < payload.length; at += SETTING_BYTES) {
    const value = uint32(payload, at + 2)
    switch ((payload[at]! << 8) | payload[at + 1]!) {
      case HEADER_TABLE_SIZE:
        settings.headerTableSize = value
        break
      case ENABLE_PUSH:
        if (value > 1) throw new Http2Error('invalid_setting')
        break
      case INITIAL_WINDOW_SIZE:
        if (value > MAX_31_BITS) throw new Http2Error('window_overflow')
        settings.initialWindowSize = value
        break
      case MAX_FRAME_SIZE:
        if (value < FRAME_BYTES || value > MAX_FRAME_SIZE_MAX) throw new Http2Error('invalid_setting')
        break
    }
  }
  return settings
}
