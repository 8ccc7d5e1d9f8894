// The error codes of the control plane, with the HTTP status of each.

/**
 * Maps each code to its HTTP status (docs/protocol.md §23). `unauthorized` is 403 on `/sdk/*` and
 * `/v1/sign`, and 401 on admin and policy routes.
 */
export const ERROR_STATUS = {
  /** The body is not JSON. */
  invalid_json: 400,
  /** The body or query is malformed, or a value is out of range. */
  invalid_request: 400,
  /** A text is not an Ethereum address. */
  invalid_address: 400,
  /** A text is not an IP address or range. */
  invalid_ip: 400,
  /** `approval_mode` is not one of {@link APPROVAL_MODES}. */
  invalid_mode: 400,
  /** The credential is missing, expired or invalid for this use. */
  unauthorized: 403,
  /** The policy bans or denies the lease's identity, or bans one of its addresses. */
  lease_rejected: 403,
  /** The relay lets nobody register without an invitation, and the request has none. */
  invitation_required: 403,
  /** The invitation is unknown, withdrawn, expired or used up. The message says which. */
  invitation_rejected: 403,
  /** The client address, or the one reported by the client, is banned. */
  ip_banned: 403,
  /** The relay's settings or policy do not allow dedicated UDP ports. */
  udp_disabled: 403,
  /** The relay's settings or policy do not allow dedicated TCP ports. */
  tcp_port_disabled: 403,
  /** The token belongs to a lease instance that has ended. */
  lease_not_found: 404,
  /** The endpoint does not support the method. `Allow` lists those that it does. */
  method_not_allowed: 405,
  /** Another identity has the friendly hostname, or the operator has reserved it, and no fallback is allowed. */
  hostname_conflict: 409,
  /** The lease's dedicated ports do not match the request. */
  transport_mismatch: 409,
  /** The client has exhausted its rate limit. `Retry-After` says when to retry. */
  rate_limited: 429,
  /** The relay failed. */
  internal: 500,
  /** The connection cannot become a reverse session. */
  hijack_unsupported: 500,
  /** The upgrade to a reverse session failed. */
  hijack_failed: 500,
  /** The relay does not have the feature, has no room for it, or is closing. */
  feature_unavailable: 503,
  /** The maximum number of leases with a UDP port is reached. */
  udp_capacity_exceeded: 503,
  /** No UDP port of the range is free. */
  udp_port_exhausted: 503,
  /** The maximum number of leases with a TCP port is reached. */
  tcp_port_capacity_exceeded: 503,
  /** No TCP port of the range is free. */
  tcp_port_exhausted: 503,
  /** The endpoint needs HTTP/1.1. */
  http11_only: 505,
} as const

/** ErrorCode is a code of the error envelope. */
export type ErrorCode = keyof typeof ERROR_STATUS

/** Envelope is the answer of every JSON endpoint: `data` on success, `error` on failure, never both. */
export type Envelope<T> =
  | { ok: true; data: T }
  | {
      ok: false
      /** The code is for programs, the message for people. */
      error: { code: ErrorCode; message: string }
    }
