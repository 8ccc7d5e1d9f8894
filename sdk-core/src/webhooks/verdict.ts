// What was found out about a webhook's signature, in words that claim no more than is known.

import type { WebhookSender } from './secrets.ts'

/** A WebhookVerdict says whether a webhook is signed by who knows the secret. */
export interface WebhookVerdict {
  sender: WebhookSender
  /**
   * - `valid`: the signature is that of the body, and of now.
   * - `invalid`: it is missing, malformed, or of another body or secret.
   * - `expired`: it is right, and of another time than this machine's clock allows.
   * - `unchecked`: it could not be checked.
   */
  result: 'valid' | 'invalid' | 'expired' | 'unchecked'
  code: VerdictCode
  /** The reason, as a sentence for people. */
  reason: string
  /** The seconds since it was signed, by this machine's clock: negative for the future. Undefined when the sender signs no time. */
  ageSeconds?: number | undefined
}

/**
 * - `fits`: the signature fits.
 * - `no_signature`: the request has none.
 * - `malformed`: what the headers say cannot be a signature.
 * - `mismatch`: the secret is another one, or the body was changed: a signature cannot tell which.
 * - `body_changed`: the body differs from a digest that came with it.
 * - `wrong_secret`: the secret is not right as it was given.
 * - `too_old`, `too_new`: the time that was signed is not now.
 * - `no_secret`: no secret of this sender is given.
 * - `too_large`, `unread`: the body was not read as a whole.
 * - `unsupported`: this platform has not the algorithm.
 */
export type VerdictCode =
  | 'fits'
  | 'no_signature'
  | 'malformed'
  | 'mismatch'
  | 'body_changed'
  | 'wrong_secret'
  | 'too_old'
  | 'too_new'
  | 'no_secret'
  | 'too_large'
  | 'unread'
  | 'unsupported'

const RESULTS: Readonly<Partial<Record<VerdictCode, WebhookVerdict['result']>>> = {
  fits: 'valid',
  too_old: 'expired',
  too_new: 'expired',
  no_secret: 'unchecked',
  too_large: 'unchecked',
  unread: 'unchecked',
  unsupported: 'unchecked',
}

export function verdict(
  sender: WebhookSender,
  code: VerdictCode,
  reason: string,
  ageSeconds?: number,
): WebhookVerdict {
  const result = RESULTS[code] ?? 'invalid'
  return { sender, result, code, reason, ...(ageSeconds !== undefined && { ageSeconds }) }
}

/** Returns how far the signed time is from this machine's. */
export function timeReason(ageSeconds: number, toleranceSeconds: number): string {
  const seconds = Math.round(Math.abs(ageSeconds))
  return ageSeconds > 0
    ? `the signature fits, and was made ${seconds} s ago by this machine's clock, where ${toleranceSeconds} s are allowed: the request is late or a repeated one, or the clock is fast`
    : `the signature fits, and was made ${seconds} s from now by this machine's clock, where ${toleranceSeconds} s are allowed: the clock is slow, or the sender's is fast`
}
