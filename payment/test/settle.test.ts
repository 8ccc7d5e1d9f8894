// Settle carries a payment out once and answers it: at once, again, after a crash, and with nodes that hang, break or lie.

import { fromBase64 } from '@mysten/sui/utils'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFacilitator, type SettleResponse } from '../src/index.ts'
import { MemoryJournal } from './memory-journal.ts'
import { PAY_TO, PAYER, requestOf } from './payments.ts'
import { startFacilitator, type TestFacilitator } from './support.ts'

async function start(...options: Parameters<typeof startFacilitator>): Promise<TestFacilitator> {
  const one = await startFacilitator(...options)
  onTestFinished(() => one.close())
  return one
}

const SUCCESS = {
  success: true,
  payer: PAYER.toSuiAddress(),
  transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/),
  network: 'sui:testnet',
}

describe.concurrent('a payment that is right', () => {
  test('moves its amount to the recipient, and the answer has its digest', async () => {
    const { facilitator, received, nodes } = await start()
    expect(await facilitator.settle(await requestOf())).toEqual(SUCCESS)
    expect(received()).toBe(10_000n)
    expect(nodes[0]!.node.chain.balance(PAYER.toSuiAddress())).toBe(990_000n)
  })

  test('gets one answer however often and at once it comes, and money moves once', async () => {
    const { facilitator, received, calls } = await start()
    const request = await requestOf()
    const answers = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(request)))
    answers.push(await facilitator.settle(request))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toEqual(SUCCESS)
    expect(received()).toBe(10_000n)
    expect(calls('ExecuteTransaction')).toBe(1)
  })

  test('is used up then: it is not valid again, also where the journal is lost', async () => {
    const { facilitator, restart } = await start()
    const request = await requestOf()
    await facilitator.settle(request)
    const used = { isValid: false, invalidReason: 'invalid_transaction_state', payer: PAYER.toSuiAddress() }
    expect(await facilitator.verify(request)).toMatchObject(used)
    const forgetful = await restart(new MemoryJournal())
    expect(await forgetful.verify(request)).toMatchObject(used)
    expect(await forgetful.settle(request)).toMatchObject({ success: false })
  })

  test('does not pay for another resource, at once or later', async () => {
    const { facilitator, received } = await start()
    const request = await requestOf()
    const elsewhere = structuredClone(request)
    elsewhere.paymentPayload.resource = { url: 'https://other.relay.example/paid' }
    const answers = await Promise.all([facilitator.settle(request), facilitator.settle(elsewhere)])
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await facilitator.settle(elsewhere)).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
    })
    expect(received()).toBe(10_000n)
  })

  test('of a payer whose money goes to another payment first is refused, and of two one is carried out', async () => {
    const { facilitator, nodes, received } = await start()
    const amount = 600_000n
    const requests = await Promise.all(
      [1, 2].map((nonce) => requestOf({ amount, nonce }, { amount: `${amount}` })),
    )
    for (const request of requests) expect(await facilitator.verify(request)).toMatchObject({ isValid: true })
    const answers = await Promise.all(requests.map((request) => facilitator.settle(request)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.find(({ success }) => !success)).toMatchObject({ errorReason: 'insufficient_funds' })
    expect(received()).toBe(amount)
    expect(nodes[0]!.node.chain.balance(PAYER.toSuiAddress())).toBe(400_000n)
  })

  test('that fails when the chain carries it out has an answer with its digest, and keeps it', async () => {
    const { facilitator, nodes, journal, received } = await start(1, { lateFunds: true })
    const request = await requestOf()
    // The payer spends its money elsewhere, between the check and the payment.
    journal.isFull = () => {
      nodes[0]!.node.chain.fund(PAYER.toSuiAddress(), -1_000_000n)
      journal.isFull = () => false
      return false
    }
    const answer = await facilitator.settle(request)
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_transaction_state' })
    expect(answer.transaction).not.toBe('')
    expect(await facilitator.settle(request)).toEqual(answer)
    expect(received()).toBe(0n)
  })
})

describe.concurrent('the journal', () => {
  test('has a payment before it is sent: when it cannot write, nothing is sent', async () => {
    const { facilitator, journal, calls, received } = await start()
    journal.isFull = () => true
    const request = await requestOf()
    await expect(facilitator.settle(request)).rejects.toThrow('ENOSPC')
    expect(calls('ExecuteTransaction')).toBe(0)
    journal.isFull = () => false
    expect(await facilitator.settle(request)).toEqual(SUCCESS)
    expect(received()).toBe(10_000n)
  })

  test('has an outcome before it is answered: when it cannot write, the answer comes later, and money moved once', async () => {
    const { facilitator, journal, calls, received } = await start()
    journal.isFull = ({ outcome }) => outcome !== undefined
    const request = await requestOf()
    await expect(facilitator.settle(request)).rejects.toMatchObject({ code: 'unsettled' })
    expect(received()).toBe(10_000n)
    journal.isFull = () => false
    expect(await facilitator.settle(request)).toEqual(SUCCESS)
    expect(calls('ExecuteTransaction')).toBe(1)
  })

  test('of a crash after the payment was sent: the next start finds out, and the answer can be asked for', async () => {
    const { facilitator, journal, restart, received } = await start()
    const request = await requestOf()
    journal.isFull = ({ outcome }) => outcome !== undefined
    await facilitator.settle(request).catch(() => {})
    journal.isFull = () => false
    const next = await restart()
    expect(await journal.open()).toEqual([])
    expect(await next.settle(request)).toEqual(SUCCESS)
    expect(received()).toBe(10_000n)
  })

  test('of a crash before the payment was sent: it can still be carried out, once', async () => {
    const { facilitator, journal, restart, nodes, received } = await start()
    const request = await requestOf()
    nodes[0]!.node.faults.add({ method: 'ExecuteTransaction', disconnect: true, times: 100 })
    const crashed = facilitator.settle(request).catch(() => {})
    await expect.poll(() => journal.notes.length).toBe(1)
    const next = await restart()
    nodes[0]!.node.faults.clear()
    expect(await next.verify(request)).toMatchObject({ isValid: true })
    const answers = await Promise.all([next.settle(request), next.settle(request)])
    for (const answer of answers) expect(answer).toEqual(SUCCESS)
    await crashed
    expect(received()).toBe(10_000n)
  })

  test('gives a payment up that was not carried out in its epochs', async () => {
    const { facilitator, journal, restart, nodes, received } = await start()
    const request = await requestOf()
    journal.isFull = ({ outcome }) => outcome !== undefined
    nodes[0]!.node.faults.add({ method: 'ExecuteTransaction', grpc: 'INVALID_ARGUMENT', times: 1 })
    await expect(facilitator.settle(request)).rejects.toMatchObject({ code: 'unsettled' })
    journal.isFull = () => false
    for (let epoch = 0; epoch < 2; epoch++) nodes[0]!.node.chain.advanceEpoch()
    await restart()
    expect(await journal.open()).toEqual([])
    expect((await journal.find(journal.notes[0]!.digest))?.outcome).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_sui_payload_expired',
    })
    expect(received()).toBe(0n)
  })
})

describe.concurrent('a node', () => {
  test('that breaks the connection after it has carried the payment out: one payment, one answer', async () => {
    const { facilitator, nodes, received } = await start()
    nodes[0]!.node.faults.add({ method: 'ExecuteTransaction', when: 'after', disconnect: true })
    expect(await facilitator.settle(await requestOf())).toEqual(SUCCESS)
    expect(received()).toBe(10_000n)
  })

  test('that breaks the connection before: the next one carries the payment out', async () => {
    const { facilitator, nodes, received } = await start(2)
    nodes[0]!.node.faults.add({ method: 'ExecuteTransaction', disconnect: true })
    expect(await facilitator.settle(await requestOf())).toEqual(SUCCESS)
    expect(received()).toBe(10_000n)
  })

  test('that claims a payment which it did not make is not believed where another one denies it', async () => {
    const { facilitator, nodes, received, journal } = await start(2)
    const [liar] = nodes
    const request = await requestOf()
    const lie = await forged(request)
    liar!.node.chain.execute = () => Promise.resolve(lie as never)
    await expect(facilitator.settle(request)).rejects.toMatchObject({ code: 'unsettled' })
    expect(received()).toBe(0n)
    expect(await journal.open()).toHaveLength(1)
  })

  test('that hangs holds 128 requests at most: a further one is refused at once', async () => {
    const { facilitator, nodes } = await start()
    nodes[0]!.node.faults.add({ hang: true, times: 10_000 })
    const request = await requestOf()
    const asked = Array.from({ length: 129 }, () =>
      facilitator.verify(request).catch(({ code }) => code as string),
    )
    expect(await asked.at(-1)).toBe('busy')
    const others = await Promise.all(asked.slice(0, -1))
    expect(new Set(others)).toEqual(new Set(['nodes_unavailable']))
  })

  test('of another chain is passed over', async () => {
    const other = await start(1, { network: 'sui:mainnet' })
    const { nodes } = await start()
    const mixed = await createFacilitator({
      network: 'sui:testnet',
      payTo: PAY_TO,
      journal: new MemoryJournal(),
      endpoints: [nodes[0]!.url, other.nodes[0]!.url],
    })
    expect(await mixed.settle(await requestOf())).toEqual(SUCCESS)
  })

  test('that answers with errors alone is no word about a payment', async () => {
    const { facilitator, nodes, received } = await start()
    for (const http of [500, 404])
      for (const ask of ['verify', 'settle'] as const) {
        nodes[0]!.node.faults.add({ http, times: 10 })
        await expect(facilitator[ask](await requestOf())).rejects.toMatchObject({ code: 'nodes_unavailable' })
        nodes[0]!.node.faults.clear()
      }
    expect(received()).toBe(0n)
  })

  test('that hangs delays a payment, and the next one makes it', async () => {
    const { facilitator, nodes, received } = await start(2)
    nodes[0]!.node.faults.add({ hang: true, times: 100 })
    const answers: SettleResponse[] = []
    answers.push(await facilitator.settle(await requestOf()))
    // It is asked last now, so that the second payment does not wait for it.
    answers.push(await facilitator.settle(await requestOf({ nonce: 2 })))
    for (const answer of answers) expect(answer).toEqual(SUCCESS)
    expect(received()).toBe(20_000n)
  })
})

/** The answer of an honest node to an execution of the payment, from a chain of its own. */
async function forged(request: Awaited<ReturnType<typeof requestOf>>): Promise<object> {
  const { nodes } = await start()
  const { transaction, signature } = request.paymentPayload.payload as {
    transaction: string
    signature: string
  }
  const bytes = fromBase64(transaction)
  return await nodes[0]!.node.chain.execute(bytes, [fromBase64(signature)])
}
