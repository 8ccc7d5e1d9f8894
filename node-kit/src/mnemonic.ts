// Derives the BIP 32 private key of a BIP 39 mnemonic. The only importer of viem: load it only for mnemonics.

import { createHash } from 'node:crypto'
import { english, mnemonicToAccount } from 'viem/accounts'

/**
 * A mnemonic has 12 to 24 words of 11 bits, in steps of 3, with one checksum bit for each three (BIP 39).
 */
const WORD_BITS = 11
const WORD_COUNTS: ReadonlySet<number> = new Set([12, 15, 18, 21, 24])

/**
 * Returns the 32 bytes of the private key at `derivationPath` (BIP 32).
 * @returns undefined for invalid words, checksum or path: the library's error would quote them
 */
export function keyOfMnemonic(mnemonic: string, derivationPath: string): Uint8Array | undefined {
  const words = mnemonic.trim().split(/\s+/)
  if (!isMnemonic(words)) return undefined
  try {
    const path = derivationPath as `m/44'/60'/${string}`
    return mnemonicToAccount(words.join(' '), { path }).getHdKey().privateKey ?? undefined
  } catch {
    return undefined
  }
}

/** Checks the words, because viem would accept a mistyped mnemonic as another identity. */
function isMnemonic(words: readonly string[]): boolean {
  const indexes = words.map((word) => english.indexOf(word))
  if (!WORD_COUNTS.has(words.length) || indexes.includes(-1)) return false
  const bits = indexes.map((index) => index.toString(2).padStart(WORD_BITS, '0')).join('')
  const checksumBits = words.length / 3
  const entropy = bits
    .slice(0, -checksumBits)
    .match(/.{8}/g)!
    .map((byte) => Number.parseInt(byte, 2))
  const [first] = createHash('sha256').update(Uint8Array.from(entropy)).digest()
  return bits.endsWith(first!.toString(2).padStart(8, '0').slice(0, checksumBits))
}
