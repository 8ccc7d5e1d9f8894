// SipHash-2-4, the keyed hash of DNS cookies (RFC 9018 §4.4), in halves of 32 bits: BigInt takes ten times as long.

/** Words of the key: the low and the high half of k0, then those of k1. */
export type SipHashKey = Uint32Array

/** @param bytes 16 of them */
export function sipHashKey(bytes: Uint8Array): SipHashKey {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint32Array.from([0, 4, 8, 12], (offset) => view.getUint32(offset, true))
}

/** The four words of the state, each as its low and its high half. */
const state = new Int32Array(8)

/**
 * Hashes the first bytes of a message.
 * @param hash gets the low and the high half of the result
 */
export function sipHash24(key: SipHashKey, message: Uint8Array, length: number, hash: Uint32Array): void {
  const [k0, k0High, k1, k1High] = key as unknown as [number, number, number, number]
  state[0] = k0 ^ 0x70736575
  state[1] = k0High ^ 0x736f6d65
  state[2] = k1 ^ 0x6e646f6d
  state[3] = k1High ^ 0x646f7261
  state[4] = k0 ^ 0x6e657261
  state[5] = k0High ^ 0x6c796765
  state[6] = k1 ^ 0x79746573
  state[7] = k1High ^ 0x74656462
  const whole = length - (length % 8)
  for (let offset = 0; offset < whole; offset += 8)
    compress(wordAt(message, offset, 4), wordAt(message, offset + 4, 4))
  const rest = length - whole
  const high = wordAt(message, whole + 4, Math.max(0, rest - 4)) | (length << 24)
  compress(wordAt(message, whole, Math.min(4, rest)), high)
  state[4] = state[4]! ^ 0xff
  for (let round = 0; round < 4; round++) sipRound()
  hash[0] = state[0]! ^ state[2]! ^ state[4]! ^ state[6]!
  hash[1] = state[1]! ^ state[3]! ^ state[5]! ^ state[7]!
}

/** A little-endian number of up to four bytes. */
function wordAt(bytes: Uint8Array, offset: number, count: number): number {
  let word = 0
  for (let index = 0; index < count; index++) word |= bytes[offset + index]! << (8 * index)
  return word
}

function compress(low: number, high: number): void {
  state[6] = state[6]! ^ low
  state[7] = state[7]! ^ high
  sipRound()
  sipRound()
  state[0] = state[0]! ^ low
  state[1] = state[1]! ^ high
}

function sipRound(): void {
  add(0, 2)
  rotate(2, 13)
  xor(2, 0)
  swap(0)
  add(4, 6)
  rotate(6, 16)
  xor(6, 4)
  add(0, 6)
  rotate(6, 21)
  xor(6, 0)
  add(4, 2)
  rotate(2, 17)
  xor(2, 4)
  swap(4)
}

/** Adds word `from` to word `to`, modulo 2^64. */
function add(to: number, from: number): void {
  const low = (state[to]! >>> 0) + (state[from]! >>> 0)
  state[to + 1] = state[to + 1]! + state[from + 1]! + (low > 0xffff_ffff ? 1 : 0)
  state[to] = low
}

function xor(to: number, from: number): void {
  state[to] = state[to]! ^ state[from]!
  state[to + 1] = state[to + 1]! ^ state[from + 1]!
}

/** Rotates a word to the left by 1 to 31 bits. */
function rotate(word: number, bits: number): void {
  const low = state[word]!
  const high = state[word + 1]!
  state[word] = (low << bits) | (high >>> (32 - bits))
  state[word + 1] = (high << bits) | (low >>> (32 - bits))
}

/** Rotates a word by 32 bits. */
function swap(word: number): void {
  const low = state[word]!
  state[word] = state[word + 1]!
  state[word + 1] = low
}
