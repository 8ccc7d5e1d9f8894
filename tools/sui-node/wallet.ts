// A wallet with a key of its own, for tests and examples: it signs what it is given.
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { fromBase64 } from '@mysten/sui/utils'

/** A wallet as a page sees it: an address, and signatures of transactions. */
export interface TestWallet {
  address: string
  /**
   * @param transaction BCS form in Base64
   * @returns the signature in Base64
   */
  signTransaction(transaction: string): Promise<string>
}

/** @param seed 32 bytes; default: random ones */
export function createTestWallet(seed?: Uint8Array): TestWallet {
  const keypair = seed ? Ed25519Keypair.fromSecretKey(seed) : Ed25519Keypair.generate()
  return {
    address: keypair.toSuiAddress(),
    signTransaction: async (transaction) =>
      (await keypair.signTransaction(fromBase64(transaction))).signature,
  }
}
