// A transaction is a payment, or it is refused: each way in which one can differ from the one shape.

import type { Transaction } from '@mysten/sui/transactions'
import { expect, test } from 'vitest'
import { readPayment } from '../src/sui/transaction.ts'
import { CHAIN, PAY_TO, PAYER, transactionOf, USDC, type Variation } from './payments.ts'

test.each(['balance', 'coin'] as const)('a payment by the functions of %s is read', async (module) => {
  expect(readPayment(await transactionOf({ module }))).toMatchObject({
    sender: PAYER.toSuiAddress(),
    recipient: PAY_TO,
    asset: USDC,
    amount: 10_000n,
    validity: { minEpoch: 100n, maxEpoch: 101n, maxTimestamp: undefined, chain: CHAIN },
  })
})

const pureRecipient = (transaction: Transaction) => transaction.pure.address(PAY_TO)

const OTHER_SHAPES: [what: string, variation: Variation][] = [
  [
    'one more command',
    { change: (t) => void t.moveCall({ target: '0x2::balance::zero', typeArguments: [USDC] }) },
  ],
  ['one more input', { change: (t) => void t.pure.u64(1) }],
  ['a gas price', { change: (t) => t.setGasPrice(1) }],
  ['a gas budget', { change: (t) => t.setGasBudget(1) }],
  ['a gas owner', { change: (t) => t.setGasOwner(`0x${'9'.repeat(64)}`) }],
  [
    'gas coins',
    {
      change: (t) => t.setGasPayment([{ objectId: `0x${'a'.repeat(64)}`, version: '1', digest: CHAIN }]),
    },
  ],
  [
    'a second payment',
    {
      change: (t) => {
        const [funds] = t.moveCall({
          target: '0x2::balance::redeem_funds',
          typeArguments: [USDC],
          arguments: [t.withdrawal({ amount: 1n, type: USDC })],
        })
        t.moveCall({
          target: '0x2::balance::send_funds',
          typeArguments: [USDC],
          arguments: [funds!, pureRecipient(t)],
        })
      },
    },
  ],
]

test.each(OTHER_SHAPES)('a transaction with %s is refused (protocol §19.1.3)', async (_what, variation) => {
  const bytes = await transactionOf(variation)
  expect(() => readPayment(bytes)).toThrow(
    expect.objectContaining({ reason: 'invalid_exact_sui_payload_transaction' }),
  )
})

test('bytes after the transaction, fewer bytes, and none are refused', async () => {
  const bytes = await transactionOf()
  for (const wrong of [new Uint8Array([...bytes, 0]), bytes.slice(0, -1), new Uint8Array()])
    expect(() => readPayment(wrong)).toThrow(expect.objectContaining({ reason: 'invalid_payload' }))
})

test('each byte of a payment matters: with another value it is refused, or pays something else', async () => {
  const bytes = await transactionOf()
  const { digest } = readPayment(bytes)
  for (let index = 0; index < bytes.length; index++) {
    const changed = bytes.slice()
    changed[index]! ^= 1
    let other: string | undefined
    try {
      other = readPayment(changed).digest
    } catch (error) {
      expect(error).toMatchObject({ name: 'Refusal' })
    }
    expect(other).not.toBe(digest)
  }
})

test('a transaction that does not end is refused', async () => {
  for (const variation of [{ minEpoch: null }, { maxEpoch: null }])
    await expect(transactionOf(variation).then(readPayment)).rejects.toMatchObject({
      reason: 'invalid_exact_sui_payload_expired',
    })
})
