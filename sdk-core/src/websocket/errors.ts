// A visitor's violations of RFC 6455: a stable code, and the status of the Close frame that answers.

/** Maps each code to its status code (RFC 6455 §7.4.1) and text. */
const ERRORS = {
  reserved_bits: [1002, 'A reserved bit is set, and no extension was agreed on'],
  reserved_opcode: [1002, 'The opcode is reserved'],
  unmasked_frame: [1002, 'A frame is not masked'],
  invalid_length: [1002, 'A payload length is not in its shortest form'],
  control_too_long: [1002, 'A control frame has more than 125 bytes'],
  fragmented_control: [1002, 'A control frame is fragmented'],
  unexpected_continuation: [1002, 'A continuation has nothing to continue'],
  unfinished_message: [1002, 'A message begins inside another'],
  invalid_close: [1002, 'A Close frame has a malformed payload'],
  invalid_utf8: [1007, 'A text is not UTF-8'],
  invalid_compression: [1007, 'A compressed message cannot be read'],
  message_too_big: [1009, 'The message is larger than is taken here'],
  buffer_full: [1006, 'The visitor reads too slowly for what is sent'],
  close_timeout: [1006, 'The visitor did not answer the Close frame'],
  ping_timeout: [1006, 'The visitor does not answer'],
  upgrade_declined: [1006, 'The handler did not return the response of the upgrade'],
} as const

export type WebSocketErrorCode = keyof typeof ERRORS

export class WebSocketError extends Error {
  override readonly name = 'WebSocketError'
  readonly code: WebSocketErrorCode
  /** The status to send. 1006 is never sent: the connection just ends. */
  readonly closeCode: number

  constructor(code: WebSocketErrorCode) {
    super(ERRORS[code][1])
    this.code = code
    this.closeCode = ERRORS[code][0]
  }
}
