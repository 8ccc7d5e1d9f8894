// The file of an identity, `identity.json`, as relays and SDKs read it: a private key, or a mnemonic with a path.

/**
 * The derivation path of a mnemonic's key when the file gives none: the first account of a wallet (BIP 44, SLIP 44).
 */
export const DERIVATION_PATH_DEFAULT = "m/44'/60'/0'/0/0"

const PRIVATE_KEY = /^(?:0x)?([0-9a-f]{64})$/i

/**
 * Returns the 64 hexadecimal digits of `private_key`, in lower case. A `0x` before them is optional.
 * @returns undefined for anything else
 */
export function privateKeyDigits(privateKey: string): string | undefined {
  return PRIVATE_KEY.exec(privateKey)?.[1]?.toLowerCase()
}

/**
 * A mnemonic has words of 11 bits, 12 to 24 of them in steps of 3, with one bit of checksum for each three (BIP 39).
 */
const WORD_BITS = 11
const WORD_COUNTS: ReadonlySet<number> = new Set([12, 15, 18, 21, 24])

/**
 * Returns whether these are words of the list with the right checksum (BIP 39). Libraries take any words, and so a
 * mistyped mnemonic for another identity.
 * @param sha256 hashes the words' entropy; the checksum is the beginning of its result
 */
export function isMnemonic(
  words: readonly string[],
  wordList: readonly string[],
  sha256: (bytes: Uint8Array) => Uint8Array,
): boolean {
  const indexes = words.map((word) => wordList.indexOf(word))
  if (!WORD_COUNTS.has(words.length) || indexes.includes(-1)) return false
  const bits = indexes.map((index) => index.toString(2).padStart(WORD_BITS, '0')).join('')
  const checksumBits = words.length / 3
  const entropy = bits
    .slice(0, -checksumBits)
    .match(/.{8}/g)!
    .map((byte) => Number.parseInt(byte, 2))
  const [first] = sha256(Uint8Array.from(entropy))
  return bits.endsWith(first!.toString(2).padStart(8, '0').slice(0, checksumBits))
}
