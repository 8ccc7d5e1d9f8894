// The one error of outbound requests: a stable code for callers, a sentence for the log, and the cause.

/**
 * - `invalid_url`: the URL does not parse, carries credentials, or is not https and its origin not configured.
 * - `name_not_resolved`: DNS knows no address for the host, or did not answer.
 * - `address_blocked`: the host has no public address, and its origin is not configured.
 * - `address_busy`: the caller dials no address of the host for now.
 * - `connection_failed`: TCP, TLS or HTTP failed before the response was whole.
 * - `deadline_exceeded`: the exchange took longer than its deadline.
 * - `response_too_large`: the body has more bytes than its bound.
 * - `redirect_refused`: the server redirects once more than is followed, or something that is not GET or HEAD.
 * - `aborted`: the caller's signal ended the request.
 */
export type OutboundErrorCode =
  | 'invalid_url'
  | 'name_not_resolved'
  | 'address_blocked'
  | 'address_busy'
  | 'connection_failed'
  | 'deadline_exceeded'
  | 'response_too_large'
  | 'redirect_refused'
  | 'aborted'

export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly code: OutboundErrorCode

  constructor(code: OutboundErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }

  /** An error of name resolution, socket, TLS or HTTP in these terms; an OutboundError stays itself. */
  static from(error: unknown): OutboundError {
    if (error instanceof OutboundError) return error
    const { syscall, message } = error as NodeJS.ErrnoException
    const isName = syscall === 'getaddrinfo' || syscall?.startsWith('query') === true
    const code = isName ? 'name_not_resolved' : 'connection_failed'
    return new OutboundError(code, message, error)
  }
}
