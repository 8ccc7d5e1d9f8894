// Encodes the two transactions that a payer signs: the payment, and the deposit of coins into the address balance.
// Each has a fixed form, so that the payer can rebuild and compare it. No blockchain library is needed.

/** A Transfer is the content of a payment. Addresses and the coin are in the chain's full form. */
export interface Transfer {
  sender: string
  recipient: string
  /** Type of the coin, such as `0x…::usdc::USDC`. */
  asset: string
  amount: bigint
}

/** A Period is the validity of a transaction: its epochs and chain. */
export interface Period {
  minEpoch: bigint
  maxEpoch: bigint
  /** Digest of the chain's first checkpoint. */
  chain: string
  /** Distinguishes two equal payments: 32 bits. */
  nonce: number
}

/** A Coin is a coin object of the sender, in its current version. */
export interface Coin {
  objectId: string
  version: bigint
  digest: string
}

/** The variants of a payment: the module of its functions, and how it refers to the first one's result. */
export const VARIANTS: readonly Variant[] = (['balance', 'coin'] as const).flatMap((module) =>
  [true, false].map((isNested) => ({ module, isNested })),
)

interface Variant {
  module: 'balance' | 'coin'
  isNested: boolean
}

const FRAMEWORK = `0x${'2'.padStart(64, '0')}`
const ADDRESS_BYTES = 32
/** The size of the period at the end of a transaction, in bytes. */
const PERIOD_BYTES = 58
/** The size of each coin of a deposit among its inputs, with the following recipient, in bytes. */
const COIN_BYTES = 109
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** @returns the transaction that redeems the amount from the sender's address balance and sends it to the recipient */
export function paymentBytes(
  { sender, recipient, asset, amount }: Transfer,
  period: Period,
  { module, isNested }: Variant = VARIANTS[0]!,
): Uint8Array<ArrayBuffer> {
  const type = structTag(asset)
  const result = isNested ? [3, ...u16(0), ...u16(0)] : [2, ...u16(0)]
  return transaction(
    [[2, 0, ...u64(amount), 0, ...type, 0], pureAddress(recipient)],
    [call(module, 'redeem_funds', type, [input(0)]), call(module, 'send_funds', type, [result, input(1)])],
    sender,
    period,
  )
}

/** @returns the transaction that moves coins of the sender, each whole, into the sender's own address balance */
export function depositBytes(
  { sender, asset }: Pick<Transfer, 'sender' | 'asset'>,
  coins: readonly Coin[],
  period: Period,
): Uint8Array<ArrayBuffer> {
  const type = structTag(asset)
  return transaction(
    coins.flatMap((coin) => [ownedObject(coin), pureAddress(sender)]),
    coins.map((_, at) => call('coin', 'send_funds', type, [input(2 * at), input(2 * at + 1)])),
    sender,
    period,
  )
}

/** @returns the claimed period of a transaction; undefined unless it has a first and a last epoch */
export function periodOf(bytes: Uint8Array): Period | undefined {
  const end = bytes.subarray(-PERIOD_BYTES)
  if (end.length < PERIOD_BYTES) return undefined
  const view = new DataView(end.buffer, end.byteOffset, PERIOD_BYTES)
  return {
    minEpoch: view.getBigUint64(2, true),
    maxEpoch: view.getBigUint64(11, true),
    chain: toBase58(end.subarray(22, 54)),
    nonce: view.getUint32(54, true),
  }
}

/** @returns the coins that a deposit claims to move; only rebuilding it proves that it is one */
export function coinsOf(bytes: Uint8Array): Coin[] {
  const [, , low = 0, high = 0] = bytes
  const isLong = low >= 0x80
  const count = (isLong ? (low & 0x7f) | (high << 7) : low) / 2
  const coins: Coin[] = []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = isLong ? 4 : 3; coins.length < count && at + COIN_BYTES <= bytes.length; at += COIN_BYTES)
    coins.push({
      objectId: hex(bytes.subarray(at + 2, at + 34)),
      version: view.getBigUint64(at + 34, true),
      digest: toBase58(bytes.subarray(at + 43, at + 75)),
    })
  return coins
}

export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

/** A transaction without gas, of version 1. */
function transaction(
  inputs: number[][],
  commands: number[][],
  sender: string,
  { minEpoch, maxEpoch, chain, nonce }: Period,
): Uint8Array<ArrayBuffer> {
  const gas = [0, ...address(sender), ...u64(0n), ...u64(0n)]
  const epochs = [1, ...u64(minEpoch), 1, ...u64(maxEpoch)]
  const end = [2, ...epochs, 0, 0, ...withLength(fromBase58(chain)), ...u32(nonce)]
  return Uint8Array.from([0, 0, ...list(inputs), ...list(commands), ...address(sender), ...gas, ...end])
}

function call(module: string, name: string, type: number[], parameters: number[][]): number[] {
  return [0, ...address(FRAMEWORK), ...text(module), ...text(name), ...list([type]), ...list(parameters)]
}

function input(at: number): number[] {
  return [1, ...u16(at)]
}

function pureAddress(of: string): number[] {
  return [0, ...withLength(address(of))]
}

function ownedObject({ objectId, version, digest }: Coin): number[] {
  return [1, 0, ...address(objectId), ...u64(version), ...withLength(fromBase58(digest))]
}

function structTag(type: string): number[] {
  const [of = '', module = '', name = ''] = type.split('::')
  return [7, ...address(of), ...text(module), ...text(name), 0]
}

function address(of: string): number[] {
  const digits = of.slice(2).padStart(2 * ADDRESS_BYTES, '0')
  return Array.from({ length: ADDRESS_BYTES }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  )
}

function text(ascii: string): number[] {
  return withLength(Array.from(ascii, (character) => character.charCodeAt(0)))
}

function list(items: number[][]): number[] {
  return [...length(items.length), ...items.flat()]
}

function withLength(bytes: number[]): number[] {
  return [...length(bytes.length), ...bytes]
}

/** ULEB128: seven bits in each byte. */
function length(of: number): number[] {
  return of < 0x80 ? [of] : [(of & 0x7f) | 0x80, ...length(of >> 7)]
}

function u16(value: number): number[] {
  return littleEndian(BigInt(value), 2)
}

function u32(value: number): number[] {
  return littleEndian(BigInt(value), 4)
}

function u64(value: bigint): number[] {
  return littleEndian(value, 8)
}

function littleEndian(value: bigint, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn))
}

/** The digests of the chain are 32 bytes in Base58. */
function fromBase58(digest: string): number[] {
  const value = Array.from(digest).reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n)
  return littleEndian(value, ADDRESS_BYTES).reverse()
}

function toBase58(bytes: Uint8Array): string {
  let value = BigInt(hex(bytes))
  let digits = ''
  for (; value > 0n; value /= 58n) digits = BASE58[Number(value % 58n)] + digits
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + digits
}

function hex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
