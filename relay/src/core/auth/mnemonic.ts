// Derives the private key of a BIP 39 mnemonic. It is the relay's only importer of viem, and loaded only when an identity is one.

import { createHash } from 'node:crypto'
import { isMnemonic } from '@svc/protocol'
import { english, mnemonicToAccount } from 'viem/accounts'
import type { Hex } from './ethereum-signature.ts'

/**
 * The private key at `path` of a BIP 39 mnemonic.
 * @throws Error when the mnemonic's words or checksum, or the path, are wrong; its message does not quote them
 */
export function keyOfMnemonic(mnemonic: string, path: `m/44'/60'/${string}`): Hex {
  const words = mnemonic.trim().split(/\s+/)
  if (!isMnemonic(words, english, sha256)) throw new Error('the mnemonic is not valid')
  const key = mnemonicToAccount(words.join(' '), { path }).getHdKey().privateKey
  if (!key) throw new Error('the derivation path gives no private key')
  return `0x${Buffer.from(key).toString('hex')}`
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
