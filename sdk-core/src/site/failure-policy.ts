// Decides what a failure means for a site: it ends, it needs another lease, or it has to wait.

import { SvcError, type SvcErrorCode } from '../errors.ts'
import type { WaitingReason } from './waiting-reason.ts'

/** Codes that mean the lease is lost: there is nothing to renew or unregister. */
const LEASE_LOST: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>([
  'lease_ended',
  'lease_replaced',
  'stream_rejected',
])

/** Codes after which a retry cannot help: the tenant has to act first. */
const FATAL: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>([
  'lease_replaced',
  'incompatible_relay',
  'siwe_mismatch',
  'alternate_gateway',
  'hostname_conflict',
  'ip_banned',
  'invalid_request',
  'invalid_address',
])

/** Failures that pass in time, or when the operator acts. */
const WAITING: Partial<Record<SvcErrorCode, WaitingReason>> = {
  rate_limited: 'rate_limited',
  relay_full: 'relay_full',
  stream_rejected: 'relay_full',
  tcp_port_capacity_exceeded: 'relay_full',
  tcp_port_exhausted: 'relay_full',
  udp_capacity_exceeded: 'relay_full',
  udp_port_exhausted: 'relay_full',
}

export function isLeaseLost({ code }: SvcError): boolean {
  return LEASE_LOST.has(code)
}

/**
 * Returns whether a failure ends the site.
 * @param wasOnline false while the caller of `publish` still waits and can get the reason
 */
export function isFatal(failure: SvcError, wasOnline: boolean): boolean {
  if (FATAL.has(failure.code)) return true
  return !wasOnline && failure.code !== 'relay_unreachable' && !isWorthWaiting(failure)
}

/** Returns the reason why a site waits. Undefined when it lost its relay or never reached it. */
export function waitingReason({ code }: SvcError): WaitingReason | undefined {
  return WAITING[code]
}

/**
 * Returns whether a site that was never online waits. It does not when the relay has no free port: the caller
 * learns of it at once, because another relay may have one.
 */
export function isWorthWaiting({ code, retryAfterMs }: SvcError): boolean {
  if (code === 'rate_limited') return retryAfterMs !== undefined
  return code === 'relay_full' || code === 'stream_rejected'
}

export function notAllowed(): SvcError {
  return new SvcError('lease_rejected', 'the relay does not allow this identity or address to be reached')
}
