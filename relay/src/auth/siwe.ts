// Sign-In with Ethereum (EIP-4361) at registration: the message a challenge asks to sign, and who signed it.

import { randomBytes } from 'node:crypto'
import { siweMessage } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { checksumAddress } from './ethereum.ts'

/** The lower-case address that signed; undefined when nobody can have made the signature. */
export type RecoverSigner = (message: string, signature: string) => Promise<string | undefined>

const NONCE_BYTES = 12

/** Times are milliseconds since the epoch, by the wall clock. */
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
