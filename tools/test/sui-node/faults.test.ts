// The faults of a local full node reach the library's client as faults of a real one do.
import { expect, it } from 'vitest'
import { execute, payment, startChain } from './support.ts'

async function signedPayment() {
  const chain = await startChain()
  const { client, payer, payee } = chain
  return { ...chain, bytes: await payment(payer.address, payee.address, 10_000n).build({ client }) }
}

it('breaks the connection before or after it has executed', async () => {
  const { client, node, payer, payee, bytes } = await signedPayment()
  node.faults.add({ method: 'ExecuteTransaction', disconnect: true })
  await expect(execute(client, payer, bytes)).rejects.toThrow()
  expect(node.chain.balance(payee.address)).toBe(0n)
  node.faults.add({ method: 'ExecuteTransaction', disconnect: true, when: 'after' })
  await expect(execute(client, payer, bytes)).rejects.toThrow()
  expect(node.chain.balance(payee.address)).toBe(10_000n)
  expect((await execute(client, payer, bytes)).status.success).toBe(true)
  expect(node.chain.balance(payee.address)).toBe(10_000n)
})

it('hangs until the client gives up', async () => {
  const { client, node } = await signedPayment()
  node.faults.add({ method: 'GetTransaction', hang: true })
  const signal = AbortSignal.timeout(50)
  await expect(client.core.getTransaction({ digest: 'x', signal })).rejects.toMatchObject({
    code: 'DEADLINE_EXCEEDED',
  })
})

it('answers with errors of HTTP and of gRPC, as often as it is told', async () => {
  const { client, node } = await signedPayment()
  node.faults.add({ http: 503, times: 2 })
  node.faults.add({ grpc: 'UNAVAILABLE' })
  for (const code of ['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE'])
    await expect(client.core.getCurrentSystemState()).rejects.toMatchObject({ code })
  expect((await client.core.getCurrentSystemState()).systemState.epoch).toBe('1000')
})

it('lies', async () => {
  const { client, node, payer } = await signedPayment()
  node.faults.add({
    method: 'GetBalance',
    lie: ({ balance }) => ({ balance: { ...balance, addressBalance: 5n } }),
  })
  expect((await client.core.getBalance({ owner: payer.address })).balance.addressBalance).toBe('5')
})

it('refuses bodies of more than 1 MiB, and what is not gRPC-Web', async () => {
  const { url } = await signedPayment()
  const target = `${url}/sui.rpc.v2.LedgerService/GetServiceInfo`
  const headers = { 'Content-Type': 'application/grpc-web+proto' }
  const tooLarge = await fetch(target, { method: 'POST', headers, body: new Uint8Array(1024 * 1024 + 1) })
  expect(tooLarge.headers.get('grpc-status')).toBe('8')
  const json = await fetch(target, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  })
  expect(json.headers.get('grpc-status')).toBe('3')
  for (const body of [
    new Uint8Array(3),
    new Uint8Array([0, 0, 0, 0, 9]),
    new Uint8Array([0, 0, 0, 0, 1, 255]),
  ])
    expect((await fetch(target, { method: 'POST', headers, body })).headers.get('grpc-status')).toBe('3')
  const preflight = await fetch(target, { method: 'OPTIONS' })
  expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('*')
})
