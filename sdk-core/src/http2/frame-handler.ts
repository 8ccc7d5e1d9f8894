// Checks frames by the rules of RFC 9113 §6 that need no stream state, and emits them as events.

import { concat } from '../bytes/concat.ts'
import { HEAD_BYTES } from '../semantics/limits.ts'
import { Http2Error } from './errors.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  type Frame,
  GOAWAY,
  HEADERS,
  PADDED,
  PING,
  PRIORITY,
  PRIORITY_FLAG,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  uint31,
  WINDOW_UPDATE,
} from './frame.ts'
import { CONTINUATIONS_MAX } from './limits.ts'
import { parseSettings, type VisitorSettings } from './settings.ts'

/** FrameEvents are called in the order of the frames. Each may throw an Http2Error. */
export interface FrameEvents {
  /**
   * Called with the content of a DATA frame.
   * @param size its size for flow control, in octets, with padding
   */
  data(streamId: number, data: Uint8Array, size: number, isEnd: boolean): void
  /**
   * Called with a complete header block.
   * @param isSelfDependent the stream was made to depend on itself, which is a stream error (RFC 7540 §5.3.1)
   */
  headers(streamId: number, block: Uint8Array, isEnd: boolean, isSelfDependent: boolean): void
  reset(streamId: number): void
  settings(settings: VisitorSettings): void
  ping(payload: Uint8Array): void
  goAway(): void
  /**
   * Called with the increment of a window.
   * @param streamId 0 for the connection's window
   */
  windowUpdate(streamId: number, increment: number): void
  /** Called after a frame that needs no further work. */
  idle(): void
}

const PRIORITY_BYTES = 5
const PING_BYTES = 8
const GOAWAY_BYTES_MIN = 8

export class FrameHandler {
  readonly #events: FrameEvents
  readonly #rules: Readonly<Record<number, (frame: Frame) => void>> = {
    [DATA]: (frame) => this.#data(frame),
    [HEADERS]: (frame) => this.#headers(frame),
    [PRIORITY]: (frame) => this.#priority(frame),
    [RST_STREAM]: (frame) => this.#reset(frame),
    [SETTINGS]: (frame) => this.#settings(frame),
    [PUSH_PROMISE]: refusePush,
    [PING]: (frame) => this.#ping(frame),
    [GOAWAY]: (frame) => this.#goAway(frame),
    [WINDOW_UPDATE]: (frame) => this.#windowUpdate(frame),
    [CONTINUATION]: (frame) => this.#continuation(frame),
  }
  /** An incomplete header block. Until its end no other frame is allowed (§6.10). */
  #block: HeaderBlock | undefined

  constructor(events: FrameEvents) {
    this.#events = events
  }

  get isInBlock(): boolean {
    return this.#block !== undefined
  }

  /** @throws Http2Error */
  accept(frame: Frame): void {
    if (this.#block && frame.type !== CONTINUATION) throw new Http2Error('unexpected_frame')
    const rule = this.#rules[frame.type]
    if (rule) rule(frame)
    else this.#events.idle() // Unknown types are ignored (§5.5).
  }

  #data(frame: Frame): void {
    requireStream(frame)
    const data = unpadded(frame)
    this.#events.data(frame.streamId, data, frame.payload.length, (frame.flags & END_STREAM) !== 0)
  }

  #headers(frame: Frame): void {
    requireStream(frame)
    let fragment = unpadded(frame)
    let isSelfDependent = false
    if (frame.flags & PRIORITY_FLAG) {
      if (fragment.length < PRIORITY_BYTES) throw new Http2Error('invalid_frame_size')
      isSelfDependent = uint31(fragment, 0) === frame.streamId
      fragment = fragment.subarray(PRIORITY_BYTES)
    }
    this.#block = new HeaderBlock(frame.streamId, (frame.flags & END_STREAM) !== 0, isSelfDependent)
    this.#append(fragment, frame.flags)
  }

  #continuation({ streamId, flags, payload }: Frame): void {
    if (this.#block?.streamId !== streamId) throw new Http2Error('unexpected_frame')
    this.#append(payload, flags)
  }

  #append(fragment: Uint8Array, flags: number): void {
    const block = this.#block!
    block.append(fragment)
    if (block.size > HEAD_BYTES || block.fragments > 1 + CONTINUATIONS_MAX)
      throw new Http2Error('header_block_too_large')
    if (!(flags & END_HEADERS)) return
    this.#block = undefined
    this.#events.headers(block.streamId, block.bytes, block.isEnd, block.isSelfDependent)
  }

  /** Validates a PRIORITY frame and ignores its content (§5.3). */
  #priority(frame: Frame): void {
    requireStream(frame)
    this.#events.idle()
    const { streamId, payload } = frame
    if (payload.length !== PRIORITY_BYTES) throw new Http2Error('invalid_frame_size', streamId)
    if (uint31(payload, 0) === streamId) throw new Http2Error('invalid_stream_id', streamId)
  }

  #reset(frame: Frame): void {
    requireStream(frame)
    requireSize(frame, 4)
    this.#events.reset(frame.streamId)
  }

  #goAway(frame: Frame): void {
    requireConnection(frame)
    if (frame.payload.length < GOAWAY_BYTES_MIN) throw new Http2Error('invalid_frame_size')
    this.#events.idle()
    this.#events.goAway()
  }

  #settings(frame: Frame): void {
    requireConnection(frame)
    this.#events.idle()
    if (frame.flags & ACK) requireSize(frame, 0)
    else this.#events.settings(parseSettings(frame.payload))
  }

  #ping(frame: Frame): void {
    requireConnection(frame)
    requireSize(frame, PING_BYTES)
    this.#events.idle()
    if (!(frame.flags & ACK)) this.#events.ping(frame.payload)
  }

  #windowUpdate(frame: Frame): void {
    requireSize(frame, 4)
    this.#events.idle()
    const { streamId } = frame
    const increment = uint31(frame.payload, 0)
    if (increment === 0) throw new Http2Error('invalid_increment', streamId || undefined)
    this.#events.windowUpdate(streamId, increment)
  }
}

/** Returns the payload without its padding (§6.1). */
function unpadded({ flags, payload }: Frame): Uint8Array {
  if (!(flags & PADDED)) return payload
  if (payload.length === 0) throw new Http2Error('invalid_frame_size')
  const end = payload.length - payload[0]!
  if (end < 1) throw new Http2Error('invalid_padding')
  return payload.subarray(1, end)
}

/** Refuses PUSH_PROMISE: only servers push (§8.4). */
function refusePush(): never {
  throw new Http2Error('unexpected_frame')
}

function requireStream({ streamId }: Frame): void {
  if (streamId === 0) throw new Http2Error('invalid_stream_id')
}

function requireConnection({ streamId }: Frame): void {
  if (streamId !== 0) throw new Http2Error('invalid_stream_id')
}

function requireSize({ payload }: Frame, size: number): void {
  if (payload.length !== size) throw new Http2Error('invalid_frame_size')
}

/** Collects the fragments of a header block (RFC 9113 §4.3): HEADERS, then CONTINUATIONs. */
class HeaderBlock {
  readonly streamId: number
  /** True when the stream ends with the block. */
  readonly isEnd: boolean
  readonly isSelfDependent: boolean
  readonly #fragments: Uint8Array[] = []
  size = 0

  constructor(streamId: number, isEnd: boolean, isSelfDependent: boolean) {
    this.streamId = streamId
    this.isEnd = isEnd
    this.isSelfDependent = isSelfDependent
  }

  get fragments(): number {
    return this.#fragments.length
  }

  get bytes(): Uint8Array {
    return concat(this.#fragments)
  }

  append(fragment: Uint8Array): void {
    this.#fragments.push(fragment)
    this.size += fragment.length
  }
}
