// The library's own client pays on the local chain, and what the chain forbids really fails.
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bcs } from '@mysten/sui/bcs'
import { Transaction } from '@mysten/sui/transactions'
import { toBase64 } from '@mysten/sui/utils'
import { describe, expect, it } from 'vitest'
import { createTestWallet } from '../../sui-node/wallet.ts'
import { COIN, clientOf, execute, pay, payment, startChain } from './support.ts'

describe('a gasless payment', () => {
  it('moves the money and can be looked up by its digest', async () => {
    const chain = await startChain()
    const { client, payer, payee } = chain
    const paid = await pay(chain, 10_000n)
    expect(paid.status).toEqual({ success: true, error: null })
    const changes = [
      { address: payee.address, coinType: COIN, amount: '10000' },
      { address: payer.address, coinType: COIN, amount: '-10000' },
    ]
    expect(paid.balanceChanges).toEqual(changes)
    const { balance } = await client.core.getBalance({ owner: payee.address, coinType: COIN })
    expect(balance.addressBalance).toBe('10000')
    const found = await client.core.getTransaction({
      digest: paid.digest,
      include: { balanceChanges: true, transaction: true, bcs: true },
    })
    expect(found.Transaction?.balanceChanges).toEqual(changes)
    expect(found.Transaction?.bcs).toEqual(paid.bcs)
    expect(found.Transaction?.transaction?.gasData).toMatchObject({ price: '0', budget: '0', payment: [] })
  })

  it('moves the money once, however often the same transaction comes', async () => {
    const { client, node, payer, payee } = await startChain()
    const bytes = await payment(payer.address, payee.address, 10_000n).build({ client })
    const results = await Promise.all([1, 2, 3].map(() => execute(client, payer, bytes)))
    expect(new Set(results.map(({ digest }) => digest)).size).toBe(1)
    expect(node.chain.balance(payee.address)).toBe(10_000n)
  })

  it('takes coins of the sender when its address balance is too small', async () => {
    const { client, node, payee } = await startChain()
    const rich = createTestWallet()
    node.chain.fundCoin(rich.address, 30_000n)
    node.chain.fundCoin(rich.address, 30_000n)
    const bytes = await payment(rich.address, payee.address, 50_000n).build({ client })
    expect((await execute(client, rich, bytes)).status.success).toBe(true)
    expect(node.chain.balance(payee.address)).toBe(50_000n)
    const { balance } = await client.core.getBalance({ owner: rich.address, coinType: COIN })
    expect(balance).toMatchObject({ addressBalance: '10000', coinBalance: '0' })
  })

  it('is simulated without moving anything', async () => {
    const { client, node, payer, payee } = await startChain()
    const transaction = await payment(payer.address, payee.address, 10_000n).build({ client })
    const simulated = await client.core.simulateTransaction({
      transaction,
      include: { balanceChanges: true },
    })
    expect(simulated.Transaction?.balanceChanges).toHaveLength(2)
    expect(node.chain.balance(payee.address)).toBe(0n)
    expect(node.chain.ledger.history()).toEqual([])
  })
})

describe('the chain refuses', () => {
  it.each([
    ['a payment without funds', { amount: 2_000_000n }, /Insufficient|less than the reserved/],
    ['another asset', { type: '0x2::sui::SUI' }, /not allowed in gasless/],
    ['an amount below the least one', { amount: 9_999n }, /10000 or more/],
  ])('%s', async (_, { amount = 10_000n, type = COIN }: { amount?: bigint; type?: string }, message) => {
    const chain = await startChain()
    chain.node.chain.fund(chain.payer.address, 1_000_000n, '0x2::sui::SUI')
    await expect(pay(chain, amount, type)).rejects.toThrow(message)
    expect(chain.node.chain.balance(chain.payee.address, type)).toBe(0n)
  })

  it('the second of two payments that only one balance is there for', async () => {
    const { client, node, payer, payee } = await startChain()
    const first = await payment(payer.address, payee.address, 700_000n).build({ client })
    const second = await payment(payer.address, payee.address, 700_000n).build({ client })
    await execute(client, payer, first)
    await expect(execute(client, payer, second)).rejects.toThrow(/less than the reserved/)
    node.chain.lateFunds = true
    const failed = await execute(client, payer, second)
    expect(failed.status.error?.message).toMatch(/not 700000/)
    expect(node.chain.balance(payee.address)).toBe(700_000n)
    expect((await client.core.getTransaction({ digest: failed.digest })).$kind).toBe('FailedTransaction')
  })

  it('the signature of somebody else, and a transaction that was changed after it was signed', async () => {
    const { client, node, payer, payee } = await startChain()
    const bytes = await payment(payer.address, payee.address, 10_000n).build({ client })
    await expect(execute(client, payee, bytes)).rejects.toThrow(/Invalid user signature/)
    const signature = await payer.signTransaction(toBase64(bytes))
    const changed = await payment(payer.address, payee.address, 20_000n).build({ client })
    await expect(
      client.core.executeTransaction({ transaction: changed, signatures: [signature] }),
    ).rejects.toThrow(/Invalid user signature/)
    expect(node.chain.balance(payee.address)).toBe(0n)
  })

  it('a transaction of another network', async () => {
    const mainnet = await startChain({ network: 'sui:mainnet' })
    const { payer, payee, client } = await startChain()
    mainnet.node.chain.fund(payer.address, 1_000_000n, COIN)
    const bytes = await payment(payer.address, payee.address, 10_000n).build({ client })
    await expect(execute(mainnet.client, payer, bytes)).rejects.toThrow(/for the chain 69WiPg3/)
  })

  it('a transaction whose epochs have passed, and one that expires at a time', async () => {
    const { client, node, payer, payee } = await startChain()
    const bytes = await payment(payer.address, payee.address, 10_000n).build({ client })
    const timed = payment(payer.address, payee.address, 10_000n)
    const epoch = String(node.chain.ledger.epoch)
    timed.setExpiration({
      ValidDuring: {
        minEpoch: epoch,
        maxEpoch: epoch,
        minTimestamp: null,
        maxTimestamp: '1',
        chain: node.chain.chainId,
        nonce: 1,
      },
    })
    await expect(timed.build({ client })).rejects.toThrow(/Timestamp-based transaction expiration/)
    node.chain.advanceEpoch()
    expect((await execute(client, payer, bytes)).status.success).toBe(true)
    const late = await payment(payer.address, payee.address, 10_000n).build({ client })
    node.chain.advanceEpoch()
    node.chain.advanceEpoch()
    await expect(execute(client, payer, late)).rejects.toThrow(/has expired/)
  })

  it('one more command, gas, and bytes that are no transaction', async () => {
    const { client, payer, payee } = await startChain()
    const more = payment(payer.address, payee.address, 10_000n)
    more.transferObjects([more.object('0x5')], payee.address)
    await expect(more.build({ client })).rejects.toThrow(/calls, splits and merges|no object/)
    const withGas = payment(payer.address, payee.address, 10_000n)
    withGas.setGasPrice(1000)
    withGas.setGasBudget(1000)
    withGas.setGasPayment([])
    await expect(withGas.build({ client })).rejects.toThrow(/gasless transactions alone/)
    await expect(execute(client, payer, new Uint8Array(40))).rejects.toThrow(/not a transaction/)
    const bytes = await payment(payer.address, payee.address, 10_000n).build({ client })
    await expect(execute(client, payer, Uint8Array.of(...bytes, 0))).rejects.toThrow(/not a transaction/)
  })

  it('a coin that is an input twice', async () => {
    const { client, node, payer, payee } = await startChain()
    const { id: objectId, version, digest } = node.chain.fundCoin(payer.address, 30_000n)
    const transaction = new Transaction()
    transaction.setSender(payer.address)
    const coin = transaction.objectRef({ objectId, version: String(version), digest })
    transaction.moveCall({
      target: '0x2::coin::send_funds',
      typeArguments: [COIN],
      arguments: [coin, transaction.pure.address(payee.address)],
    })
    const once = bcs.TransactionData.parse(await transaction.build({ client }))
    const { inputs, commands } = once.V1.kind.ProgrammableTransaction!
    const { MoveCall: call } = commands[0]!
    const again = { MoveCall: { ...call!, arguments: [{ Input: 2 }, { Input: 1 }] } }
    const ProgrammableTransaction = { inputs: [...inputs, inputs[0]!], commands: [...commands, again] }
    const twice = { V1: { ...once.V1, kind: { ProgrammableTransaction } } }
    const bytes = bcs.TransactionData.serialize(twice as typeof once).toBytes()
    await expect(execute(client, payer, bytes)).rejects.toThrow(/is an input twice/)
    expect(node.chain.balance(payer.address)).toBe(1_030_000n)
  })

  it('a balance that is left behind', async () => {
    const { client, payer } = await startChain()
    const transaction = new Transaction()
    transaction.setSender(payer.address)
    transaction.moveCall({ target: '0x2::balance::zero', typeArguments: [COIN] })
    await expect(transaction.build({ client })).rejects.toThrow(/leaves a balance behind/)
  })

  it('methods that it does not have', async () => {
    const { client } = await startChain()
    await expect(client.core.listDynamicFields({ parentId: '0x5' })).rejects.toThrow(
      /does not have this method/,
    )
    const unknown = client.core.getTransaction({ digest: '11111111111111111111111111111111' })
    await expect(unknown).rejects.toMatchObject({ reason: 'notFound' })
  })
})

it('knows its chain, its epoch, and the decimals of a coin', async () => {
  const { client } = await startChain()
  expect((await client.core.getCurrentSystemState()).systemState.epoch).toBe('1000')
  expect((await client.core.getReferenceGasPrice()).referenceGasPrice).toBe('1000')
  expect((await client.core.getCoinMetadata({ coinType: COIN })).coinMetadata?.decimals).toBe(6)
})

it('lists coins and balances page by page', async () => {
  const { client, node, payer } = await startChain()
  for (let index = 0; index < 3; index++) node.chain.fundCoin(payer.address, 10_000n)
  const options = { owner: payer.address, coinType: COIN, limit: 2 }
  const first = await client.core.listCoins(options)
  const second = await client.core.listCoins({ ...options, cursor: first.cursor })
  expect([first.objects.length, second.objects.length, second.hasNextPage]).toEqual([2, 1, false])
  const { balances } = await client.core.listBalances({ owner: payer.address })
  expect(balances).toMatchObject([{ coinType: COIN, balance: '1030000', coinBalance: '30000' }])
})

it('keeps its ledger in a file', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'sui-node-'))
  const file = path.join(folder.path, 'ledger.json')
  const before = await startChain({ file })
  const { digest } = await pay(before, 10_000n)
  await before.close()
  const after = await startChain({ file })
  expect(after.node.chain.balance(before.payee.address)).toBe(10_000n)
  const found = await clientOf(after.url).core.getTransaction({ digest })
  expect(found.Transaction?.digest).toBe(digest)
})
