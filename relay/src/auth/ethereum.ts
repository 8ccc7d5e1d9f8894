// Ethereum's part in identities: addresses, mnemonics, signatures and recovery of signers. The only importer of viem.

import { createHash } from 'node:crypto'
import { isMnemonic } from '@svc/protocol'
import type { Hex } from 'viem'
import { english, mnemonicToAccount, privateKeyToAddress, sign, signMessage } from 'viem/accounts'
import { getAddress, recoverMessageAddress } from 'viem/utils'

export type { Hex }

/** The EIP-55 form of `address`, `0x` and 40 hexadecimal digits in any case. */
export function checksumAddress(address: string): string {
  return getAddress(address)
}

/** Lower-case address of a secp256k1 private key, 32 bytes as `0x` hexadecimal. */
export function addressOfKey(privateKey: Hex): string {
  return privateKeyToAddress(privateKey).toLowerCase()
}

/**
 * The private key at `path` of a BIP-39 mnemonic.
 * @throws Error when the mnemonic's words or checksum, or the path, are wrong; its message does not quote them
 */
export function keyOfMnemonic(mnemonic: string, path: `m/44'/60'/${string}`): Hex {
  const words = mnemonic.trim().split(/\s+/)
  if (!isMnemonic(words, english, sha256)) throw new Error('the mnemonic is not valid')
  const key = mnemonicToAccount(words.join(' '), { path }).getHdKey().privateKey
  if (!key) throw new Error('the derivation path gives no private key')
  return `0x${Buffer.from(key).toString('hex')}`
}

const DIGEST_BYTES = 32

/**
 * The 65-byte recoverable signature of `digest`: r, s in its lower form, and v, which is 27 or 28.
 * @throws RangeError when `digest` has not 32 bytes
 */
export async function signDigest(digest: Uint8Array, privateKey: Hex): Promise<Uint8Array> {
  if (digest.length !== DIGEST_BYTES)
    throw new RangeError(`a digest has ${DIGEST_BYTES} bytes, not ${digest.length}`)
  return sign({ hash: `0x${Buffer.from(digest).toString('hex')}`, privateKey, to: 'bytes' })
}

/** The same form of signature as {@link signDigest} makes, of `message` with `personal_sign` (EIP-191). */
export async function personalSign(message: string, privateKey: Hex): Promise<Uint8Array> {
  const signature = await signMessage({ message, privateKey })
  return Buffer.from(signature.slice(2), 'hex')
}

/**
 * Lower-case address that signed `message` with `personal_sign` (EIP-191).
 * @returns undefined when `signature` is not one that anybody could have made
 */
export async function recoverSigner(message: string, signature: string): Promise<string | undefined> {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) return undefined
  try {
    return (await recoverMessageAddress({ message, signature: signature as Hex })).toLowerCase()
  } catch {
    return undefined
  }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
