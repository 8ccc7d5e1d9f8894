// Decodes the Huffman code of RFC 7541 Appendix B. The encoder does not use it, because it saves little on responses.

import { HpackError } from './error.ts'

/** The length of each symbol's code in bits, as a digit of base 32; the last one is EOS. The code is canonical. */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u'
const EOS = 256
/** A string has at most this many bits of padding (§5.2). */
const PADDING_BITS_MAX = 7

/** A node of the code's tree is two entries, for bit 0 and bit 1: the next node's index, or ~symbol at a leaf. */
const TREE: Int16Array = buildTree()

/**
 * Decodes a string.
 * @throws HpackError
 */
export function decodeHuffman(bytes: Uint8Array): string {
  const octets: number[] = []
  let node = 0
  // The number of bits since the last symbol, and whether all were ones, as in padding.
  let bits = 0
  let ones = true
  for (const byte of bytes) {
    for (let shift = 7; shift >= 0; shift--) {
      const bit = (byte >> shift) & 1
      const next = TREE[node + bit]!
      bits++
      ones &&= bit === 1
      if (next >= 0) node = next
      else {
        if (~next === EOS) throw new HpackError()
        octets.push(~next)
        node = 0
        bits = 0
        ones = true
      }
    }
  }
  if (bits > PADDING_BITS_MAX || !ones) throw new HpackError()
  let text = ''
  for (let at = 0; at < octets.length; at += 8192) text += String.fromCharCode(...octets.slice(at, at + 8192))
  return text
}

/** Builds the tree. Codes ascend by length, then by symbol. */
function buildTree(): Int16Array {
  const tree = new Int16Array(2 * (LENGTHS.length - 1))
  let used = 2
  let code = 0
  let length = 0
  const symbols = [...LENGTHS].map((digit, symbol) => ({ symbol, length: Number.parseInt(digit, 32) }))
  for (const { symbol, length: wanted } of symbols.sort((a, b) => a.length - b.length)) {
    code *= 2 ** (wanted - length)
    length = wanted
    let node = 0
    for (let shift = length - 1; shift > 0; shift--) {
      const entry = node + ((code >> shift) & 1)
      if (tree[entry] === 0) {
        tree[entry] = used
        used += 2
      }
      node = tree[entry]!
    }
    tree[node + (code & 1)] = ~symbol
    code++
  }
  return tree
}
