// The error codes of the control plane, with the HTTP status of each.

/** Maps each code to its HTTP status. `unauthorized` is 403 on `/sdk/*` and `/v1/sign`, and 401 on admin routes. */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_address: 400,
  invalid_ip: 400,
  invalid_mode: 400,
  unauthorized: 403,
  lease_rejected: 403,
  ip_banned: 403,
  udp_disabled: 403,
  tcp_port_disabled: 403,
  lease_not_found: 404,
  method_not_allowed: 405,
  hostname_conflict: 409,
  transport_mismatch: 409,
  rate_limited: 429,
  internal: 500,
  hijack_unsupported: 500,
  hijack_failed: 500,
  feature_unavailable: 503,
  udp_capacity_exceeded: 503,
  udp_port_exhausted: 503,
  tcp_port_capacity_exceeded: 503,
  tcp_port_exhausted: 503,
  http11_only: 505,
} as const

/** ErrorCode is a code of the error envelope. */
export type ErrorCode = keyof typeof ERROR_STATUS

/** Envelope is the answer of every JSON endpoint: `data` on success, `error` on failure, never both. */
export type Envelope<T> = { ok: true; data: T } | { ok: false; error: { code: ErrorCode; message: string } }
