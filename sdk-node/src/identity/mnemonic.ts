// A BIP 39 mnemonic to its BIP 32 private key. Only importer of viem, and loaded only when an identity is one.

import { createHash } from 'node:crypto'
import { isMnemonic } from '@svc/protocol'
import { english, mnemonicToAccount } from 'viem/accounts'

/** @returns undefined when words, checksum or path are not valid: the library's error would quote them */
export function keyOfMnemonic(mnemonic: string, derivationPath: string): Uint8Array | undefined {
  const words = mnemonic.trim().split(/\s+/)
  if (!isMnemonic(words, english, sha256)) return undefined
  try {
    const path = derivationPath as `m/44'/60'/${string}`
    return mnemonicToAccount(words.join(' '), { path }).getHdKey().privateKey ?? undefined
  } catch {
    return undefined
  }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
