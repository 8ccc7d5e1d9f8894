// The check of a Sign-In with Ethereum message: it is for this site and this challenge, is in time, and is signed by its address.

import type { SiweMessage } from '@svc/protocol'
import { personalSigner } from '../identity/key.ts'
import { parseDateTime } from './date-time.ts'
import { parseSiwe } from './parse.ts'

/** A SiweExpectation says what a message must contain. An omitted field may have any value. */
export interface SiweExpectation {
  /** The authority of this site. */
  domain: string
  /** The nonce of the challenge. */
  nonce: string
  uri?: string | undefined
  chainId?: number | undefined
  statement?: string | undefined
  /** The address as `0x` and 40 digits, in any case. */
  address?: string | undefined
  requestId?: string | undefined
  /** The time in milliseconds since the epoch. */
  now: number
}

/** A SiweRefusal says why a message proves nothing. */
export type SiweRefusal =
  /** The text does not match the grammar of EIP-4361. */
  | 'malformed'
  /** The message names another domain, perhaps of a site that relays signatures. */
  | 'wrong_domain'
  /** The message has another nonce, so it answers another challenge. */
  | 'wrong_nonce'
  /** A field other than domain and nonce is not as expected. */
  | 'mismatch'
  | 'expired'
  | 'not_yet_valid'
  /** The address of the message did not sign it. */
  | 'wrong_signature'

/** A SiweResult is a message that proves its address, or the reason why it does not. */
export type SiweResult = { message: SiweMessage; refusal?: undefined } | { refusal: SiweRefusal }

/**
 * Checks a message and its `personal_sign` signature (EIP-191).
 * @param signature `0x` and 130 hexadecimal digits
 * @param isSigner returns whether `address` signed `text`, or a promise of that. A caller that asks a chain about contract wallets
 *   (ERC-1271) passes its own. Default: {@link isSignedBy}
 */
export async function verifySiwe(
  text: string,
  signature: string,
  expected: SiweExpectation,
  isSigner: (text: string, signature: string, address: string) => boolean | Promise<boolean> = isSignedBy,
): Promise<SiweResult> {
  const message = parseSiwe(text)
  if (message === undefined) return { refusal: 'malformed' }
  const refusal = refusalOf(message, expected)
  if (refusal !== undefined) return { refusal }
  return (await isSigner(text, signature, message.address)) ? { message } : { refusal: 'wrong_signature' }
}

/** Returns whether the key of `address` made this `personal_sign` signature of `text`. It does not ask contracts. */
export function isSignedBy(text: string, signature: string, address: string): boolean {
  return personalSigner(text, signature)?.toLowerCase() === address.toLowerCase()
}

function refusalOf(message: SiweMessage, expected: SiweExpectation): SiweRefusal | undefined {
  if (message.domain.toLowerCase() !== expected.domain.toLowerCase()) return 'wrong_domain'
  if (message.nonce !== expected.nonce) return 'wrong_nonce'
  for (const name of ['uri', 'chainId', 'statement', 'requestId'] as const)
    if (expected[name] !== undefined && message[name] !== expected[name]) return 'mismatch'
  const { address } = expected
  if (address !== undefined && message.address.toLowerCase() !== address.toLowerCase()) return 'mismatch'
  const expires = timeOf(message.expirationTime, Number.POSITIVE_INFINITY)
  if (expected.now >= expires) return 'expired'
  return expected.now < timeOf(message.notBefore, Number.NEGATIVE_INFINITY) ? 'not_yet_valid' : undefined
}

function timeOf(text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : (parseDateTime(text) ?? Number.NaN)
}
