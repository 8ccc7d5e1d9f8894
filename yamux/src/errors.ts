// The error class of this package: a stable code, and the GoAway code if one was sent or received.

/**
 * YamuxErrorCode says, for programs, what went wrong: the rule that the peer violated, the operation that this side aborted, or
 * how the transport ended.
 */
export type YamuxErrorCode =
  // The peer broke the protocol: the session was closed with GoAway(1).
  | 'bad_version'
  | 'bad_type'
  | 'bad_stream_id'
  | 'duplicate_stream'
  | 'unexpected_fin'
  | 'data_after_fin'
  | 'window_exceeded'
  | 'window_overflow'
  | 'control_flood'
  // These end the session, or say that it accepts no more streams.
  | 'session_closed'
  | 'transport_closed'
  | 'keepalive_timeout'
  | 'peer_error'
  | 'peer_going_away'
  | 'going_away'
  | 'ids_exhausted'
  | 'too_many_streams'
  | 'internal_error'
  // These concern one ping, or one stream.
  | 'ping_timeout'
  | 'stream_refused'
  | 'stream_reset'
  | 'stream_aborted'
  | 'memory_exceeded'
  | 'stream_ended'
  | 'open_timeout'
  | 'close_timeout'
  | 'read_pending'

/** GO_AWAY has the codes of a GoAway frame (specification, "Session termination"). */
export const GO_AWAY = { normal: 0, protocolError: 1, internalError: 2 } as const

interface YamuxErrorOptions extends ErrorOptions {
  goAwayCode?: number
}

/** A YamuxError is the error of a session or a stream. */
export class YamuxError extends Error {
  override readonly name = 'YamuxError'
  readonly code: YamuxErrorCode
  /** The code of the GoAway frame that was sent because of this error, or that it reports. */
  readonly goAwayCode: number | undefined

  constructor(code: YamuxErrorCode, message: string, options: YamuxErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.goAwayCode = options.goAwayCode
  }
}

/** Makes the error for a peer that violates the protocol. It ends the session with GoAway(1). */
export function protocolError(code: YamuxErrorCode, message: string): YamuxError {
  return new YamuxError(code, message, { goAwayCode: GO_AWAY.protocolError })
}

export function sessionClosed(cause?: YamuxError): YamuxError {
  return new YamuxError('session_closed', 'the session is closed', { cause })
}

export function peerGoingAway(): YamuxError {
  return new YamuxError('peer_going_away', 'no more streams at the peer')
}

export function internalError(cause: unknown): YamuxError {
  return new YamuxError('internal_error', 'a frame could not be handled', {
    cause,
    goAwayCode: GO_AWAY.internalError,
  })
}
