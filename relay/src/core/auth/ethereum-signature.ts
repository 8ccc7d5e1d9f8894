// Ethereum's signatures, and recovery of their signers. Loaded at the first signature or recovery.

import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { addressOfPublicKey } from './ethereum-address.ts'

/** Bytes as `0x` and hexadecimal digits. */
export type Hex = `0x${string}`

const DIGEST_BYTES = 32
/** Ethereum writes the recovery bit as 27 or 28; some wallets write the bit itself. */
const RECOVERY_BASE = 27

/**
 * The 65-byte recoverable signature of `digest`: r, s in its lower form, and v, which is 27 or 28.
 * @throws RangeError unless `digest` has 32 bytes
 */
export function signDigest(digest: Uint8Array, privateKey: Hex): Uint8Array {
  if (digest.length !== DIGEST_BYTES)
    throw new RangeError(`a digest has ${DIGEST_BYTES} bytes, not ${digest.length}`)
  const signature = secp256k1.sign(digest, bytesOf(privateKey), { prehash: false, format: 'recovered' })
  // noble puts the recovery bit first.
  return Uint8Array.of(...signature.subarray(1), RECOVERY_BASE + signature[0]!)
}

/** The same form of signature as {@link signDigest} makes, of `message` with `personal_sign` (EIP-191). */
export function personalSign(message: string, privateKey: Hex): Uint8Array {
  return signDigest(messageHash(message), privateKey)
}

/**
 * Lower-case address that signed `message` with `personal_sign` (EIP-191).
 * @returns undefined when `signature` is not one that anybody could have made
 */
export function recoverSigner(message: string, signature: string): string | undefined {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) return undefined
  return recoverDigestSigner(messageHash(message), bytesOf(signature))?.address
}

/** The signer of a text. */
export interface TextSigner {
  /** Lower case with `0x`. */
  address: string
  /** Uncompressed, 65 bytes. */
  publicKey: Uint8Array
}

/**
 * Recovers who signed the SHA-256 of `text`, as {@link signDigest} signs it.
 * @param signature 65 bytes: r, s, and the recovery bit, plain or with 27 added
 * @returns undefined when `signature` is not one that anybody could have made
 */
export function recoverTextSigner(text: string, signature: Uint8Array): TextSigner | undefined {
  return recoverDigestSigner(sha256(Buffer.from(text)), signature)
}

function recoverDigestSigner(digest: Uint8Array, bytes: Uint8Array): TextSigner | undefined {
  const v = bytes[64]!
  const bit = v >= RECOVERY_BASE ? v - RECOVERY_BASE : v
  if (bit > 1) return undefined
  try {
    const recovered = Buffer.concat([Uint8Array.of(bit), bytes.subarray(0, 64)])
    const key = secp256k1.recoverPublicKey(recovered, digest, { prehash: false })
    const publicKey = secp256k1.Point.fromBytes(key).toBytes(false)
    return { address: addressOfPublicKey(publicKey), publicKey }
  } catch {
    return undefined
  }
}

function messageHash(message: string): Uint8Array {
  const text = Buffer.from(message)
  return keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]))
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
