// verify, with a full node: each payment that is not what the site wants is refused with its reason.

import { parsePaymentRequirements } from '@x402/core/schemas'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PaymentRequest, PaymentRequirements } from '../src/index.ts'
import { NETWORKS } from '../src/index.ts'
import { PAY_TO, PAYER, requestFor, requestOf, STRANGER, transactionOf, type Variation } from './payments.ts'
import { startFacilitator, type TestFacilitator } from './support.ts'

let chain: TestFacilitator
beforeAll(async () => {
  chain = await startFacilitator()
})
afterAll(() => chain.close())

const OTHER = `0x${'c'.repeat(64)}`
const payer = PAYER.toSuiAddress()

test('a payment that is right is valid, and its sender is the payer', async () => {
  const request = await requestOf()
  expect(parsePaymentRequirements(request.paymentRequirements).success).toBe(true)
  expect(await chain.facilitator.verify(request)).toEqual({ isValid: true, payer })
})

describe('a payment', () => {
  const WRONG: [what: string, reason: string, variation: Variation][] = [
    ['to somebody else', 'invalid_exact_sui_payload_recipient_mismatch', { payTo: OTHER }],
    ['of less', 'invalid_exact_sui_payload_value_mismatch', { amount: 9_999n }],
    ['of more', 'invalid_exact_sui_payload_value_mismatch', { amount: 10_001n }],
    ['in another coin', 'invalid_exact_sui_payload_asset_mismatch', { asset: NETWORKS['sui:mainnet'].usdc }],
    ['for another chain', 'invalid_network', { chain: NETWORKS['sui:mainnet'].chain }],
    ['of an epoch that is over', 'invalid_exact_sui_payload_expired', { minEpoch: 98n, maxEpoch: 99n }],
    ['of a later epoch', 'invalid_exact_sui_payload_expired', { minEpoch: 101n, maxEpoch: 101n }],
    ['that lasts for long', 'invalid_exact_sui_payload_expired', { minEpoch: 100n, maxEpoch: 102n }],
    ['from a stranger’s balance', 'invalid_exact_sui_payload_signature', { sender: OTHER }],
  ]
  test.each(WRONG)('%s is %s', async (_what, invalidReason, variation) => {
    expect(await chain.facilitator.verify(await requestOf(variation))).toMatchObject({
      isValid: false,
      invalidReason,
    })
  })

  test('signed by somebody else, or over other bytes, is refused', async () => {
    const bytes = await transactionOf()
    const byStranger = await requestFor(bytes, {}, STRANGER)
    const other = await requestOf({ nonce: 2 })
    const swapped = structuredClone(other)
    swapped.paymentPayload.payload.signature = (await requestOf()).paymentPayload.payload.signature
    for (const request of [byStranger, swapped])
      expect(await chain.facilitator.verify(request)).toMatchObject({
        isValid: false,
        invalidReason: 'invalid_exact_sui_payload_signature',
      })
  })

  test('of more than the payer has is refused by the chain', async () => {
    const amount = 1_000_001n
    const request = await requestOf({ amount }, { amount: `${amount}` })
    expect(await chain.facilitator.verify(request)).toMatchObject({
      isValid: false,
      invalidReason: 'insufficient_funds',
      payer,
    })
  })

  test('is refused 60 s after it was first seen, and forever then (protocol §19.1.4)', async () => {
    const request = await requestOf({ nonce: 60 })
    expect(await chain.facilitator.verify(request)).toMatchObject({ isValid: true })
    chain.clock.now += 60_001
    for (const ask of [chain.facilitator.verify, chain.facilitator.verify])
      expect(await ask.call(chain.facilitator, request)).toMatchObject({
        isValid: false,
        invalidReason: 'invalid_exact_sui_payload_expired',
      })
    expect(await chain.facilitator.settle(request)).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_sui_payload_expired',
    })
  })

  test('that the chain itself would end later than in 60 s is refused', async () => {
    const timed = await startFacilitator(1, { timestamps: true })
    const at = (ms: number) => requestOf({ maxTimestamp: timed.clock.now + ms, nonce: ms })
    expect(await timed.facilitator.verify(await at(50_000))).toMatchObject({ isValid: true })
    for (const ms of [90_000, 3_600_000])
      expect(await timed.facilitator.verify(await at(ms))).toMatchObject({
        invalidReason: 'invalid_exact_sui_payload_expired',
      })
    await timed.close()
  })
})

describe('requirements', () => {
  const WRONG: [what: string, reason: string, requirements: Partial<PaymentRequirements>][] = [
    ['another scheme', 'unsupported_scheme', { scheme: 'upto' }],
    ['another network', 'invalid_network', { network: 'sui:mainnet' }],
    ['an invalid network', 'invalid_payment_requirements', { network: 'sui' }],
    ['another recipient', 'invalid_exact_sui_payload_recipient_mismatch', { payTo: OTHER }],
    [
      'an address of Ethereum',
      'invalid_exact_sui_payload_recipient_mismatch',
      { payTo: `0x${'a'.repeat(40)}` },
    ],
    ['another asset', 'invalid_exact_sui_payload_asset_mismatch', { asset: '0x2::sui::SUI' }],
    ['an invalid asset', 'invalid_exact_sui_payload_asset_mismatch', { asset: 'USDC<<' }],
    [
      'another way of payment',
      'invalid_payment_requirements',
      { extra: { assetTransferMethod: 'sui-coin-object' } },
    ],
    ...['0', '-1', '1.5', '1e6', '010000', ' 10000', '9999', '9'.repeat(21), `${2n ** 64n}`, ''].map(
      (amount): [string, string, Partial<PaymentRequirements>] => [
        `the amount "${amount}"`,
        'invalid_payment_requirements',
        { amount },
      ],
    ),
  ]
  test.each(WRONG)('with %s are %s (protocol §19.1.2)', async (_what, invalidReason, requirements) => {
    expect(await chain.facilitator.verify(await requestOf({}, requirements))).toMatchObject({
      isValid: false,
      invalidReason,
    })
  })

  test('of the site count, and not those that the payer claims', async () => {
    const request = await requestOf()
    request.paymentPayload.accepted = { ...request.paymentPayload.accepted, amount: '10001' }
    expect(await chain.facilitator.verify(request)).toMatchObject({ invalidReason: 'invalid_payload' })
  })

  test.each([
    ['no method', {}],
    ['the method with underscores', { asset_transfer_method: 'sui-gasless-stablecoin-address-balance' }],
  ])('that name %s are taken', async (_what, extra) => {
    expect(await chain.facilitator.verify(await requestOf({ nonce: 3 }, { extra }))).toMatchObject({
      isValid: true,
    })
  })
})

describe('a body', () => {
  const CHANGES: [what: string, reason: string, change: (request: PaymentRequest) => void][] = [
    ['of version 1', 'invalid_x402_version', (request) => (request.x402Version = 1)],
    [
      'with a payload of version 1',
      'invalid_x402_version',
      (request) => (request.paymentPayload.x402Version = 1),
    ],
    ['without a transaction', 'invalid_payload', ({ paymentPayload }) => (paymentPayload.payload = {})],
    [
      'with a transaction that is no Base64',
      'invalid_payload',
      ({ paymentPayload }) => (paymentPayload.payload.transaction = '%%%'),
    ],
    [
      'with a transaction of 10 MiB',
      'invalid_payload',
      ({ paymentPayload }) => (paymentPayload.payload.transaction = 'A'.repeat(10 * 1024 * 1024)),
    ],
    [
      'with a signature of 10 MiB',
      'invalid_payload',
      ({ paymentPayload }) => (paymentPayload.payload.signature = 'A'.repeat(10 * 1024 * 1024)),
    ],
    [
      'with a signature of several signers',
      'invalid_exact_sui_payload_signature',
      ({ paymentPayload }) => (paymentPayload.payload.signature = `Aw${'A'.repeat(200)}`),
    ],
    [
      'with an invalid signature',
      'invalid_exact_sui_payload_signature',
      ({ paymentPayload }) => (paymentPayload.payload.signature = 'AA=='),
    ],
  ]
  test.each(CHANGES)('%s is %s', async (_what, invalidReason, change) => {
    const request = await requestOf()
    change(request)
    expect(await chain.facilitator.verify(request)).toMatchObject({ isValid: false, invalidReason })
    expect(await chain.facilitator.settle(request)).toMatchObject({
      success: false,
      errorReason: invalidReason,
      transaction: '',
      network: 'sui:testnet',
    })
  })

  test.each([null, 1, 'text', [], {}, { paymentPayload: null }, { paymentPayload: { x402Version: 2 } }])(
    'that is %j is refused, and nothing throws',
    async (body) => {
      expect(await chain.facilitator.verify(body as never)).toMatchObject({ isValid: false })
      expect(await chain.facilitator.settle(body as never)).toMatchObject({ success: false })
    },
  )
})

test('nothing of this moved money', () => {
  expect(chain.received()).toBe(0n)
  expect(chain.nodes[0]!.node.chain.balance(PAY_TO)).toBe(0n)
  expect(chain.calls('ExecuteTransaction')).toBe(0)
})
