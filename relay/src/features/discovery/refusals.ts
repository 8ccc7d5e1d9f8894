// Defines the reasons for refusing a relay, and counts how often each occurred.

import { OutboundError, type OutboundErrorCode } from '../../core/outbound/outbound-error.ts'

/**
 * - `malformed`: a descriptor or announcement has the wrong form.
 * - `expired`, `future`, `too_long`: the descriptor has expired, is from the future, or is valid for too long.
 * - `forged`: the key of the descriptor's address did not sign it.
 * - `not_public`: the host is not public, by its name or by its address.
 * - `own`: it is this relay.
 * - `banned`: the operator banned the address or the origin.
 * - `rolled_back`: a newer descriptor of the address is known.
 * - `other_address`: the origin belongs to another address.
 * - `incompatible`: it speaks another version of the protocol.
 * - `unreachable`, `timeout`, `too_large`, `redirected`, `bad_answer`: its origin gave no usable answer.
 * - `full`, `crowded`: the table, or the part of it for the relay's network, has no room.
 * - `busy`: too many relays wait to be checked, or too many names lead to the addresses of one network.
 */
const REFUSALS = [
  'malformed',
  'expired',
  'future',
  'too_long',
  'forged',
  'not_public',
  'own',
  'banned',
  'rolled_back',
  'other_address',
  'incompatible',
  'unreachable',
  'timeout',
  'too_large',
  'redirected',
  'bad_answer',
  'full',
  'crowded',
  'busy',
] as const

export type Refusal = (typeof REFUSALS)[number]

export type RefusalCounts = Record<Refusal, number>

export function noRefusals(): RefusalCounts {
  return Object.fromEntries(REFUSALS.map((reason) => [reason, 0])) as RefusalCounts
}

/** Thrown to refuse a relay. Its message is the reason. */
export class RelayRefused extends Error {
  override readonly name = 'RelayRefused'
  readonly reason: Refusal

  constructor(reason: Refusal) {
    super(reason)
    this.reason = reason
  }
}

const OF_REQUESTS: Partial<Record<OutboundErrorCode, Refusal>> = {
  invalid_url: 'malformed',
  address_blocked: 'not_public',
  address_busy: 'busy',
  deadline_exceeded: 'timeout',
  response_too_large: 'too_large',
  redirect_refused: 'redirected',
}

/** @returns undefined when this relay ended the request because it is closing. @throws any other error */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof RelayRefused) return error.reason
  if (!(error instanceof OutboundError)) throw error
  return error.code === 'aborted' ? undefined : (OF_REQUESTS[error.code] ?? 'unreachable')
}
