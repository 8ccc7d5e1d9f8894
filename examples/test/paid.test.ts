// The parts of the example that sells an answer: the visitor's test wallet, and the play money for it.
import { fromBase64 } from '@mysten/sui/utils'
import { verifyTransactionSignature } from '@mysten/sui/verify'
import { expect, it } from 'vitest'
import { centsOf, inWords, unitsOf } from '../paid/cents.ts'
import { createWallet } from '../paid/wallet.ts'
import { GIFTS_MAX, WalletRoute } from '../paid/wallet-route.ts'

it('the test wallet has the address, and makes the signatures, that the library of the chain knows', async () => {
  const wallet = await createWallet()
  const transaction = btoa('any bytes of a transaction')
  const signature = await wallet.sign(transaction)
  const key = await verifyTransactionSignature(fromBase64(transaction), signature)
  expect(key.toSuiAddress()).toBe(wallet.address)
  await expect(verifyTransactionSignature(fromBase64(btoa('others')), signature)).rejects.toThrow()
})

it('gives each wallet three cents when it asks, and no more than a page has', async () => {
  const wallets = new Map<string, number>()
  const balance = (address: string): number => wallets.get(address) ?? 0
  const give = (address: string, cents: number): void => void wallets.set(address, balance(address) + cents)
  const route = new WalletRoute({ balance, give })
  const ask = (method: string, address: string) =>
    route.answer(new Request(`https://shop.example/wallet?address=${address}`, { method }))
  const address = `0x${'a1'.repeat(32)}`
  expect(await ask('GET', address).json()).toEqual({ cents: 0 })
  expect(await ask('POST', address).json()).toEqual({ cents: 3 })
  for (const bad of ['', '0x1', `${address}0`, address.toUpperCase()])
    expect(ask('POST', bad).status).toBe(400)
  for (let gift = 1; gift < GIFTS_MAX; gift++) ask('POST', address)
  expect(ask('POST', address).status).toBe(503)
  expect(balance(address)).toBe(3 * GIFTS_MAX)
})

it('counts in cents', () => {
  expect([unitsOf(3), centsOf(30_000n), centsOf(9_999n)]).toEqual([30_000n, 3, 0])
  expect([inWords(0), inWords(1), inWords(2)]).toEqual(['0 cents', '1 cent', '2 cents'])
})
