// Sign-In with Ethereum (EIP-4361) at registration: the message a challenge asks to sign, and who signed it.

import { randomBytes } from 'node:crypto'
import { siweMessage } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { checksumAddress, recoverSigner } from '../ethereum.ts'
import type { Challenge } from './challenges.ts'

const NONCE_BYTES = 12

/** Times are milliseconds since the epoch. */
export function issueSiweMessage(
  host: string,
  address: string,
  requestId: string,
  issuedAt: number,
  expiresAt: number,
): string {
  return siweMessage({
    host,
    address: checksumAddress(address),
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
    issuedAt: new Date(issuedAt).toISOString(),
    expirationTime: new Date(expiresAt).toISOString(),
    requestId,
  })
}

/** @throws RelayError `unauthorized` unless the challenge's identity signed the very message it was given */
export async function verifyProof(challenge: Challenge, message: string, signature: string): Promise<void> {
  if (message !== challenge.message)
    throw new RelayError('unauthorized', 'siwe_message is not the one that was issued')
  if ((await recoverSigner(message, signature)) !== challenge.request.identity.address)
    throw new RelayError('unauthorized', 'siwe_signature was not made by the identity')
}
