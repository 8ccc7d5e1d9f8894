// A payer signs what it has written itself, byte for byte: each way in which a seller may prepare something else is found.

import type { Transaction } from '@mysten/sui/transactions'
import { describe, expect, test } from 'vitest'
import { MAX_GATHERED_COINS } from '../src/limits.ts'
import { NETWORKS } from '../src/networks.ts'
import { isDeposit, isPayment } from '../src/prepared.ts'
import { type Coin, depositBytes, paymentBytes } from '../src/transaction-bytes.ts'
import { CHAIN, PAY_TO, PAYER, STRANGER, transactionOf, USDC, type Variation } from './payments.ts'

const NOW = Date.UTC(2026, 10, 27)
const SENDER = PAYER.toSuiAddress()
const TRANSFER = { sender: SENDER, recipient: PAY_TO, asset: USDC, amount: 10_000n }
const PERIOD = { minEpoch: 100n, maxEpoch: 101n, chain: CHAIN, nonce: 1 }
/** The latest epoch that may be the present one at {@link NOW}. */
const LATEST = BigInt(Math.floor((NOW - NETWORKS['sui:testnet'].began) / 86_400_000)) + 1n

const isOurs = (bytes: Uint8Array): boolean => isPayment(bytes, TRANSFER, 'sui:testnet', NOW)
const movesOwn = (bytes: Uint8Array): boolean => isDeposit(bytes, TRANSFER, 'sui:testnet', NOW)

describe('a payment', () => {
  test('is written as the chain’s own library writes it', async () => {
    for (const module of ['balance', 'coin'] as const)
      expect(paymentBytes(TRANSFER, PERIOD, { module, isNested: true })).toEqual(
        await transactionOf({ module }),
      )
  })

  test.each<[string, Variation]>([
    ['by the functions of balance', {}],
    ['by those of coin', { module: 'coin' }],
    ['in one epoch', { maxEpoch: 100n }],
    ['from the present epoch on', { minEpoch: LATEST, maxEpoch: LATEST + 1n }],
    ['with any nonce', { nonce: 2 ** 32 - 1 }],
  ])('%s is the payer’s', async (_what, variation) => {
    expect(isOurs(await transactionOf(variation))).toBe(true)
  })

  test.each<[string, Variation]>([
    ['a larger amount', { amount: 50_000_000n }],
    ['a smaller amount', { amount: 9_999n }],
    ['another recipient', { payTo: STRANGER.toSuiAddress() }],
    ['another coin', { asset: '0x2::sui::SUI' }],
    ['another sender', { sender: STRANGER.toSuiAddress() }],
    ['another chain', { chain: NETWORKS['sui:mainnet'].chain }],
    ['three epochs', { maxEpoch: 102n }],
    ['an end before its beginning', { minEpoch: 101n, maxEpoch: 100n }],
    ['epochs of the future', { minEpoch: LATEST + 1n, maxEpoch: LATEST + 1n }],
    ['no first epoch', { minEpoch: null }],
    ['no last epoch', { maxEpoch: null }],
    ['a time', { maxTimestamp: NOW + 1_000 }],
    ['no end', { change: (t) => t.setExpiration({ None: true }) }],
    ['an end as an epoch alone', { change: (t) => t.setExpiration({ Epoch: 101 }) }],
    ['gas', { change: (t) => t.setGasBudget(1) }],
    ['a gas coin', { change: withGasCoin }],
    ['one more command', { change: withSecondPayment }],
    ['one more input', { change: (t) => void t.pure.u64(1) }],
  ])('with %s is not', async (_what, variation) => {
    expect(isOurs(await transactionOf(variation))).toBe(false)
  })

  test('with any other byte is not, apart from its nonce and the lowest of its epochs’', async () => {
    const bytes = await transactionOf()
    const taken: number[] = []
    for (let at = 0; at < bytes.length; at += 1)
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = bytes.slice()
        changed[at]! ^= 1 << bit
        if (isOurs(changed)) taken.push(at - bytes.length)
      }
    expect([...new Set(taken)]).toEqual([-56, -47, -4, -3, -2, -1])
    for (const cut of [bytes.slice(1), bytes.slice(0, -1), bytes.slice(0, 40), new Uint8Array()])
      expect(isOurs(cut)).toBe(false)
    expect(isOurs(new Uint8Array([...bytes, 0]))).toBe(false)
  })
})

describe('a deposit', () => {
  const coins = (count: number): Coin[] =>
    Array.from({ length: count }, (_, at) => ({
      objectId: `0x${(at + 1).toString(16).padStart(64, 'a')}`,
      version: BigInt(at + 7),
      digest: CHAIN,
    }))

  test('of one coin, and of as many as a facilitator gathers, moves the payer’s own', () => {
    for (const count of [1, 2, 63, MAX_GATHERED_COINS])
      expect(movesOwn(depositBytes(TRANSFER, coins(count), PERIOD))).toBe(true)
    for (const count of [0, MAX_GATHERED_COINS + 1])
      expect(movesOwn(depositBytes(TRANSFER, coins(count), PERIOD))).toBe(false)
  })

  test('to another address, of another coin or for longer is refused, and so is any other transaction', async () => {
    const wrong = [
      depositBytes({ ...TRANSFER, sender: STRANGER.toSuiAddress() }, coins(2), PERIOD),
      depositBytes({ ...TRANSFER, asset: NETWORKS['sui:mainnet'].usdc }, coins(2), PERIOD),
      depositBytes(TRANSFER, coins(2), { ...PERIOD, maxEpoch: 102n }),
      depositBytes(TRANSFER, coins(2), { ...PERIOD, chain: NETWORKS['sui:mainnet'].chain }),
      await transactionOf(),
      new Uint8Array(),
      new Uint8Array(2_000).fill(0xff),
    ]
    for (const bytes of wrong) expect(movesOwn(bytes)).toBe(false)
  })

  test('with any other byte names another coin, epoch or nonce at most', () => {
    const bytes = depositBytes(TRANSFER, coins(2), PERIOD)
    const taken = new Set<number>()
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice()
      changed[at]! ^= 1
      if (movesOwn(changed)) taken.add(at)
    }
    const range = (from: number, to: number): number[] =>
      Array.from({ length: to - from }, (_, at) => from + at)
    const coin = (at: number): number[] => [...range(at + 2, at + 42), ...range(at + 43, at + 75)]
    const epochs = [bytes.length - 56, bytes.length - 47]
    const nonce = range(bytes.length - 4, bytes.length)
    expect([...taken]).toEqual([...coin(3), ...coin(112), ...epochs, ...nonce])
  })
})

function withGasCoin(transaction: Transaction): void {
  transaction.setGasPayment([{ objectId: `0x${'a'.repeat(64)}`, version: '1', digest: CHAIN }])
}

function withSecondPayment(transaction: Transaction): void {
  const [funds] = transaction.moveCall({
    target: '0x2::balance::redeem_funds',
    typeArguments: [USDC],
    arguments: [transaction.withdrawal({ amount: 50_000_000n, type: USDC })],
  })
  transaction.moveCall({
    target: '0x2::balance::send_funds',
    typeArguments: [USDC],
    arguments: [funds!, transaction.pure.address(STRANGER.toSuiAddress())],
  })
}
