// The error class of this package: a stable code, a message, and the underlying cause.

import { ERROR_STATUS, type ErrorCode } from '@svc/protocol'

/** OwnErrorCode is a code of the SDK itself. Errors of the relay keep the relay's codes. */
export type OwnErrorCode =
  /** An option of `publish` has a wrong type or value. */
  | 'invalid_option'
  /** The browser, the runtime or a polyfill is too old for the SDK, such as zone.js before 0.14.3. */
  | 'unsupported_platform'
  /** The given signal was aborted, or the site was closed, before the operation was done. */
  | 'aborted'
  /** The relay did not answer in time, or the connection to it broke. */
  | 'relay_unreachable'
  /** The relay speaks another revision of the protocol. */
  | 'incompatible_relay'
  /** The relay's answer violates the protocol. */
  | 'unexpected_answer'
  /** The relay asked to sign a message for another host, identity or request. Nothing was signed. */
  | 'siwe_mismatch'
  /** The relay sent the site to another origin for its reverse sessions. */
  | 'alternate_gateway'
  /** The same identity registered this name elsewhere, and that site has the hostname now. */
  | 'lease_replaced'
  /** The relay no longer knows the lease; the site registers again. */
  | 'lease_ended'
  /** The relay rejects reverse streams, though it granted a lease; the site registers again. */
  | 'stream_rejected'
  /** The relay did not accept all of the metadata: the site is published without the rest. */
  | 'metadata_refused'
  /** Another identity had the friendly hostname before: browsers keep its cookies, storage and service workers. */
  | 'name_had_other_owner'
  /** The relay has no room for another lease at the moment. */
  | 'relay_full'
  /** `/v1/sign` refused to sign a handshake. */
  | 'sign_refused'
  /**
   * The site got no certificate of its own, or could not store its key. Until it does, it presents the relay's certificate, if the
   * relay has one for sites.
   */
  | 'certificate_unavailable'
  /** The relay does not store the site's files: it has no static cache, has no room, refused, or did not answer. */
  | 'cache_unavailable'
  /** The files of the option `cache` cannot be read, or the relay cannot store them. The message names the file. */
  | 'cache_files_invalid'
  /** No facilitator takes payments for the site's paid routes. The message says what to do. */
  | 'payments_unavailable'
  /** A site asks more than the payer allows, or for a transaction that differs from its price. Nothing was signed. */
  | 'payment_refused'
  /** The issuer of OpenID Connect does not answer, or not with what can be trusted. */
  | 'oidc_unavailable'
  /** The identity could not be read or stored. */
  | 'identity_unavailable'
  /** This platform has no QUIC, and so no UDP. */
  | 'quic_unavailable'
  /** The relay accepts no datagram tunnel, or the network blocks UDP to it. */
  | 'tunnel_unreachable'
  /** The self-probe found that the relay answers visitors itself, and the option `banMitm` is set: the site left the relay. */
  | 'relay_suspected'
  /** The local service behind the site does not answer, or answers with an error that the message names. */
  | 'target_unreachable'
  /** The local service refuses the public hostname; from now on requests carry its own host. */
  | 'host_refused'
  /** The `fetch` handler threw, or a response could not be sent. */
  | 'handler_failed'
  /** The first visitor's TLS handshake failed, or the SDK itself failed in a later one. */
  | 'visitor_failed'

/** Returns the message of an error of any class. */
export function messageOf(error: unknown): string {
  return String((error as Partial<Error> | undefined)?.message ?? error)
}

/** SvcErrorCode is a code of the relay, or one of the SDK's own. */
export type SvcErrorCode = ErrorCode | OwnErrorCode

interface SvcErrorOptions {
  cause?: unknown
  /** The milliseconds that the relay asked the SDK to wait (`Retry-After`). */
  retryAfterMs?: number | undefined
}

/**
 * Every error of the SDK is an SvcError: `code` is stable and for programs, the message is for people, `cause` is the underlying
 * error beneath it.
 */
export class SvcError extends Error {
  override readonly name = 'SvcError'
  readonly code: SvcErrorCode
  readonly retryAfterMs: number | undefined

  constructor(code: SvcErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Returns whether `code`, which a relay sent, is one of the protocol's. */
export function isRelayCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_STATUS, code)
}

/** Returns the error of a site whose lease another site has taken. */
export function leaseReplaced(): SvcError {
  return new SvcError('lease_replaced', 'the same identity registered this name elsewhere')
}

/** Returns `error` when it is an SvcError, and otherwise a new one with `code` and `error` as the cause. */
export function asSvcError(error: unknown, code: OwnErrorCode, message: string): SvcError {
  return error instanceof SvcError ? error : new SvcError(code, message, { cause: error })
}

/** Returns the error with which an aborted operation rejects, for any reason of the signal. */
export function abortError(signal: AbortSignal): SvcError {
  return asSvcError(signal.reason, 'aborted', 'the operation was aborted')
}
