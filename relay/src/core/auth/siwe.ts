// Sign-In with Ethereum (EIP-4361): the message that a challenge asks to sign, and the check of who signed it.

import { randomBytes } from 'node:crypto'
import { type SiwePurpose, siweMessage } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { checksumAddress } from './ethereum-address.ts'

/** Recovers the lower-case address that signed; undefined when the signature is malformed. */
export type RecoverSigner = (message: string, signature: string) => Promise<string | undefined>

const NONCE_BYTES = 12

/**
 * Returns a new message with a random nonce. Times are milliseconds since the epoch, by the wall clock.
 * @param purpose its `address` may be in any case
 */
export function issueSiweMessage(purpose: SiwePurpose, issuedAt: number, expiresAt: number): string {
  return siweMessage({
    ...purpose,
    address: checksumAddress(purpose.address),
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
    issuedAt: new Date(issuedAt).toISOString(),
    expirationTime: new Date(expiresAt).toISOString(),
  })
}

/**
 * @param issued the message that was given out for `address`
 * @throws RelayError `unauthorized` unless `address` signed that very message
 */
export async function verifyProof(
  issued: string,
  address: string,
  proof: { message: string; signature: string },
  recoverSigner: RecoverSigner,
): Promise<void> {
  if (proof.message !== issued)
    throw new RelayError('unauthorized', 'siwe_message is not the one that was issued')
  if ((await recoverSigner(proof.message, proof.signature)) !== address)
    throw new RelayError('unauthorized', 'siwe_signature was not made by the identity')
}
