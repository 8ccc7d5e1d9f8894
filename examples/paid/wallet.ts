// A test wallet in a visitor's page: a key that the page makes, which signs payments of play money without asking.
import { blake2b } from '@noble/hashes/blake2.js'

/** A wallet of one's own for `x402Fetch()`. Both texts are Base64. */
export interface Wallet {
  address: string
  sign(transaction: string): Promise<string>
}

/** Says that a key or a signature is of Ed25519. Source: the chain's documentation, "Signatures". */
const ED25519_FLAG = 0
/** Says that a transaction is signed, in version 0, for the chain. Source: the same, "Intent Signing". */
const TRANSACTION_INTENT = [0, 0, 0]
const HASH_BYTES = 32

/** @returns a wallet whose key nobody can export; it ends with the page */
export async function createWallet(): Promise<Wallet> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])
  const key = new Uint8Array(await crypto.subtle.exportKey('raw', publicKey))
  return {
    address: `0x${hex(hash(ED25519_FLAG, ...key))}`,
    async sign(transaction) {
      const bytes = Uint8Array.from(atob(transaction), (character) => character.charCodeAt(0))
      const signed = await crypto.subtle.sign('Ed25519', privateKey, hash(...TRANSACTION_INTENT, ...bytes))
      return btoa(String.fromCharCode(ED25519_FLAG, ...new Uint8Array(signed), ...key))
    },
  }
}

function hash(...bytes: number[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(blake2b(Uint8Array.from(bytes), { dkLen: HASH_BYTES }))
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
