// An identity: one secp256k1 key, its address (EIP-55) and its signature (EIP-191). Only this file imports noble.

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { getPublicKey, hashes, Point, recoverPublicKey, sign, utils } from '@noble/secp256k1'
import { SvcError, type SvcErrorCode } from '../errors.ts'
import { isBytes } from '../platform-objects.ts'

// noble's curve alone is a third of the size, but leaves the hash for nonces (RFC 6979) to the caller.
hashes.sha256 = sha256
hashes.hmacSha256 = (key, message) => hmac(sha256, key, message)

/** A KeyIdentity is an identity whose private key it does not expose. */
export interface KeyIdentity {
  /** The address: `0x` and 40 hexadecimal digits, in EIP-55 case. */
  readonly address: string
  /** Returns the 65-byte `personal_sign` signature of `message` (EIP-191 version 0x45) as `0x` and 130 digits. */
  personalSign(message: string): string
}

const PRIVATE_KEY_BYTES = 32
const SIGNATURE = /^0x[\da-f]{130}$/i

/** Returns a new private key from the platform's random source. */
export function createPrivateKey(): Uint8Array {
  return utils.randomSecretKey()
}

/**
 * Returns the identity of a private key.
 * @param code the code of the error
 * @throws SvcError `invalid_option` when `privateKey` is not a secp256k1 private key of 32 bytes
 */
export function identityFromKey(privateKey: Uint8Array, code: SvcErrorCode = 'invalid_option'): KeyIdentity {
  if (!isBytes(privateKey) || !utils.isValidSecretKey(privateKey))
    throw new SvcError(code, `identity is not a secp256k1 private key of ${PRIVATE_KEY_BYTES} bytes`)
  const key = Uint8Array.from(privateKey) // The caller may change or clear its own copy.
  return {
    address: addressOf(getPublicKey(key, false)),
    personalSign: (message) => {
      const signature = sign(personalMessageHash(message), key, { prehash: false, format: 'recovered' })
      // noble puts the recovery bit first; Ethereum wants r, s, and then v as 27 or 28
      return `0x${bytesToHex(signature.subarray(1))}${(27 + signature[0]!).toString(16)}`
    },
  }
}

/**
 * Returns the address of the key that made a 65-byte `signature` (r, s, and the recovery bit, with or without 27) of
 * `text`, by its SHA-256.
 * @returns undefined when it is invalid for every key
 */
export function signerOf(text: string, signature: Uint8Array): string | undefined {
  return recoveredAddress(signature, signature[64]! % 27, sha256(utf8ToBytes(text)))
}

/**
 * Returns the address of the key that made a `personal_sign` signature (EIP-191) of `message`.
 * @param signature `0x` and 130 hexadecimal digits: r, s, and v as 27 or 28, or as the recovery bit alone
 * @returns undefined when it is invalid for every key
 */
export function personalSigner(message: string, signature: string): string | undefined {
  if (!SIGNATURE.test(signature)) return undefined
  const bytes = hexToBytes(signature.slice(2))
  const v = bytes[64]!
  const recovery = v >= 27 ? v - 27 : v
  return recovery > 1 ? undefined : recoveredAddress(bytes, recovery, personalMessageHash(message))
}

/**
 * Returns `address` in EIP-55 case.
 * @param address `0x` and 40 hexadecimal digits, in any case
 */
export function checksumAddress(address: string): string {
  return checksummed(address.slice(2).toLowerCase())
}

function recoveredAddress(signature: Uint8Array, recovery: number, hash: Uint8Array): string | undefined {
  try {
    const recovered = concatBytes(Uint8Array.of(recovery), signature.subarray(0, 64))
    return addressOf(Point.fromBytes(recoverPublicKey(recovered, hash, { prehash: false })).toBytes(false))
  } catch {
    return undefined
  }
}

/** Returns the last 20 bytes of the Keccak-256 of the uncompressed public key without its first byte. */
function addressOf(publicKey: Uint8Array): string {
  return checksummed(bytesToHex(keccak_256(publicKey.subarray(1)).subarray(-20)))
}

/** Sets the case of an address (EIP-55): a letter is upper case if the hash's digit at its position is 8 or more. */
function checksummed(digits: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const cased = Array.from(digits, (digit, at) =>
    Number.parseInt(hash[at]!, 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** Returns the hash of `message` that `personal_sign` signs (EIP-191 version 0x45): 32 bytes. */
export function personalMessageHash(message: string): Uint8Array {
  const text = utf8ToBytes(message)
  return keccak_256(concatBytes(utf8ToBytes(`\x19Ethereum Signed Message:\n${text.length}`), text))
}
