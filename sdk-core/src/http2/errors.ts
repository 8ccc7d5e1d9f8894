// The HTTP/2 errors of visitors: a stable code, and the error code on the wire (RFC 9113 §7).

/** The error codes of RFC 9113 §7 that the SDK sends. */
const WIRE_CODES = {
  NO_ERROR: 0x00,
  PROTOCOL_ERROR: 0x01,
  INTERNAL_ERROR: 0x02,
  FLOW_CONTROL_ERROR: 0x03,
  STREAM_CLOSED: 0x05,
  FRAME_SIZE_ERROR: 0x06,
  REFUSED_STREAM: 0x07,
  CANCEL: 0x08,
  COMPRESSION_ERROR: 0x09,
  ENHANCE_YOUR_CALM: 0x0b,
}

/** Maps each code to its error code on the wire and its text. */
const ERRORS = {
  invalid_preface: ['PROTOCOL_ERROR', 'The connection does not begin with the HTTP/2 preface'],
  invalid_frame_size: ['FRAME_SIZE_ERROR', 'A frame is too large, or its size is wrong for its type'],
  invalid_padding: ['PROTOCOL_ERROR', 'The padding is longer than the frame'],
  invalid_stream_id: ['PROTOCOL_ERROR', 'The frame cannot have this stream identifier'],
  unexpected_frame: ['PROTOCOL_ERROR', 'The frame is not allowed here'],
  invalid_setting: ['PROTOCOL_ERROR', 'A setting has an invalid value'],
  invalid_increment: ['PROTOCOL_ERROR', 'A window increment is 0'],
  window_overflow: ['FLOW_CONTROL_ERROR', 'A window would be larger than 2^31-1'],
  window_exceeded: ['FLOW_CONTROL_ERROR', 'The data exceeds the window'],
  invalid_compression: ['COMPRESSION_ERROR', 'The header block cannot be decoded'],
  malformed_request: ['PROTOCOL_ERROR', 'The request is malformed'],
  stream_closed: ['STREAM_CLOSED', 'The stream is closed'],
  too_many_streams: ['REFUSED_STREAM', 'More streams are open than were allowed'],
  header_block_too_large: ['ENHANCE_YOUR_CALM', 'A header block is too large or has too many frames'],
  header_block_timeout: ['ENHANCE_YOUR_CALM', 'A preface or a header block did not arrive in time'],
  too_many_resets: ['ENHANCE_YOUR_CALM', 'Too many streams were reset'],
  too_many_frames: ['ENHANCE_YOUR_CALM', 'Too many frames had no effect'],
  visitor_stalled: ['CANCEL', 'The visitor opened no window for the response'],
  cancelled: ['CANCEL', 'The stream was cancelled'],
  response_failed: ['INTERNAL_ERROR', 'The response was aborted'],
  closing: ['NO_ERROR', 'The site closes, or the connection was idle'],
  content_discarded: ['NO_ERROR', 'The response was sent before the request had ended'],
} as const

export type Http2ErrorCode = keyof typeof ERRORS

export class Http2Error extends Error {
  override readonly name = 'Http2Error'
  readonly code: Http2ErrorCode
  /** The error code in RST_STREAM or GOAWAY. */
  readonly wireCode: number
  /** The stream that the error ends. Undefined when it ends the connection. */
  readonly streamId: number | undefined

  constructor(code: Http2ErrorCode, streamId?: number) {
    super(ERRORS[code][1])
    this.code = code
    this.wireCode = WIRE_CODES[ERRORS[code][0]]
    this.streamId = streamId
  }
}
