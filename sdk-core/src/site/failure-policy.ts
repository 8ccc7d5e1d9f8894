// Decides what a failure means for a site: it ends, it needs another lease, or it has to wait.

import { SvcError, type SvcErrorCode } from '../errors.ts'
import type { WaitingReason } from './waiting-reason.ts'

/** The lease is not ours any more: there is nothing to renew or to give up. */
const LEASE_LOST: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>([
  'lease_ended',
  'lease_replaced',
  'stream_rejected',
])

/** Trying again cannot help: someone has to act first. */
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

/** What passes by itself, or by what the relay's operator does. */
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

/** @param wasOnline without that, whoever published the site is still there to hear why it cannot be */
export function isFatal(failure: SvcError, wasOnline: boolean): boolean {
  if (FATAL.has(failure.code)) return true
  return !wasOnline && failure.code !== 'relay_unreachable' && !isWorthWaiting(failure)
}

/** Undefined when the site does not wait for its relay but lost it, or never had it. */
export function waitingReason({ code }: SvcError): WaitingReason | undefined {
  return WAITING[code]
}

/**
 * Whether a site that has not been online yet waits. A port that was asked for and is not to be had is told at once
 * instead: another relay may have one.
 */
export function isWorthWaiting({ code, retryAfterMs }: SvcError): boolean {
  if (code === 'rate_limited') return retryAfterMs !== undefined
  return code === 'relay_full' || code === 'stream_rejected'
}

export function notAllowed(): SvcError {
  return new SvcError('lease_rejected', 'the relay does not allow this identity or address to be reached')
}
