// Ethereum's addresses of public keys, and their case.

import { keccak_256 } from '@noble/hashes/sha3.js'

const ADDRESS_BYTES = 20
/** A digit of an address is upper case (EIP-55) where the digit of the hash is at least this. */
const UPPER_CASE_FROM = 8

/** The EIP-55 form of `address`, `0x` and 40 hexadecimal digits in any case. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex')
  const cased = Array.from(digits, (digit, at) =>
    Number.parseInt(hash[at]!, 16) >= UPPER_CASE_FROM ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** Lower-case address of a secp256k1 public key in its uncompressed form, 65 bytes. */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  const hash = keccak_256(publicKey.subarray(1))
  return `0x${Buffer.from(hash.subarray(-ADDRESS_BYTES)).toString('hex')}`
}
