// The transactions that a facilitator prepares: a wallet signs them as they are, and they verify and settle.

import { fromBase64 } from '@mysten/sui/utils'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type PreparedPayment, usdcRequirements } from '../src/index.ts'
import { readPayment } from '../src/sui/transaction.ts'
import { PAY_TO, PAYER, requestFor, STRANGER, USDC } from './payments.ts'
import { startFacilitator, type TestFacilitator } from './support.ts'

const REQUIREMENTS = usdcRequirements('sui:testnet', PAY_TO, '10000')

async function start(): Promise<TestFacilitator> {
  const one = await startFacilitator()
  onTestFinished(() => one.close())
  return one
}

function bytesOf({ paymentTransaction }: PreparedPayment): Uint8Array<ArrayBuffer> {
  return fromBase64(paymentTransaction.transaction)
}

describe('a prepared payment', () => {
  test('comes alone for a sender whose address balance is enough, and is one payment in this epoch', async () => {
    const { facilitator, received } = await start()
    const prepared = await facilitator.prepare({
      sender: PAYER.toSuiAddress(),
      paymentRequirements: REQUIREMENTS,
    })
    expect(prepared).not.toHaveProperty('prepareTransaction')
    const request = await requestFor(bytesOf(prepared))
    expect(await facilitator.verify(request)).toMatchObject({ isValid: true })
    expect(await facilitator.settle(request)).toMatchObject({ success: true })
    expect(received()).toBe(10_000n)
    expect(readPayment(bytesOf(prepared)).validity).toMatchObject({ minEpoch: 100n })
  })

  test('is another transaction each time, so that a sender can pay twice', async () => {
    const { facilitator, received } = await start()
    for (let time = 0; time < 2; time++) {
      const prepared = await facilitator.prepare({
        sender: PAYER.toSuiAddress(),
        paymentRequirements: REQUIREMENTS,
      })
      expect(await facilitator.settle(await requestFor(bytesOf(prepared)))).toMatchObject({ success: true })
    }
    expect(received()).toBe(20_000n)
  })

  test('comes after one that gathers coins, where the address balance alone is too small', async () => {
    const { facilitator, nodes, received } = await start()
    const { chain } = nodes[0]!.node
    const sender = STRANGER.toSuiAddress()
    for (const amount of [20_000n, 30_000n, 15_000n]) chain.fundCoin(sender, amount)
    const paymentRequirements = { ...REQUIREMENTS, amount: '45000' }
    const prepared = await facilitator.prepare({ sender, paymentRequirements })
    const deposit = fromBase64(prepared.prepareTransaction!.transaction)
    const { signature } = await STRANGER.signTransaction(deposit)
    await chain.execute(deposit, [fromBase64(signature)])
    // The two largest coins are enough; the third one stays as it was.
    expect(chain.ledger.coins(sender, USDC)).toHaveLength(1)
    const request = await requestFor(bytesOf(prepared), { amount: '45000' }, STRANGER)
    expect(await facilitator.settle(request)).toMatchObject({ success: true })
    expect(received()).toBe(45_000n)
    expect(chain.balance(sender)).toBe(20_000n)
  })

  test.each([
    ['without enough money', STRANGER.toSuiAddress(), {}, 'insufficient_funds'],
    ['that is no address', '0x1', {}, 'invalid_payload'],
    ['that is no text', 7, {}, 'invalid_payload'],
    [
      'for another recipient',
      PAYER.toSuiAddress(),
      { payTo: `0x${'c'.repeat(64)}` },
      'invalid_exact_sui_payload_recipient_mismatch',
    ],
    ['for an invalid amount', PAYER.toSuiAddress(), { amount: '0.01' }, 'invalid_payment_requirements'],
  ])('for a sender %s is refused', async (_what, sender, requirements, reason) => {
    const { facilitator } = await start()
    const asked = { sender: sender as string, paymentRequirements: { ...REQUIREMENTS, ...requirements } }
    await expect(facilitator.prepare(asked)).rejects.toMatchObject({ code: 'invalid_request', reason })
  })
})
