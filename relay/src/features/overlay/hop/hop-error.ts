// The refusal of a hop route: the answer to the peer or the site, and the reason that the metrics count.

import type { ErrorCode } from '@svc/protocol'
import { RelayError } from '../../../core/errors.ts'
import type { HopRefusal } from './hop-counts.ts'

export class HopError extends RelayError {
  readonly reason: HopRefusal

  constructor(reason: HopRefusal, message: string, headers: Record<string, string> = {}) {
    super(CODES[reason], message, headers)
    this.reason = reason
  }
}

const CODES: Record<HopRefusal, ErrorCode> = {
  malformed: 'invalid_request',
  forged: 'unauthorized',
  expired: 'invalid_request',
  replayed: 'invalid_request',
  wrong_relay: 'invalid_request',
  wrong_peer: 'unauthorized',
  wrong_hostname: 'invalid_request',
  no_lease: 'lease_not_found',
  rejected: 'lease_rejected',
  owner_full: 'rate_limited',
  full: 'feature_unavailable',
  rate_limited: 'rate_limited',
}
