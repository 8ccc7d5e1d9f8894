// Visitors who sign in with a browser wallet.
import { verifyMessage } from 'viem'
import { expect, test } from './fixtures.ts'
import { addTestWallet } from './support/test-wallet.ts'

test('the test wallet is found by EIP-6963, signs what a page asks, and rejects when told so', async ({
  relay,
  visitor,
}) => {
  const wallet = await addTestWallet(visitor.context())
  const other = await addTestWallet(visitor.context(), { name: 'Another' })
  await visitor.goto(`${relay.url}/`)
  const sign = (name: string) =>
    visitor.evaluate(async (name) => {
      type Detail = { info: { name: string }; provider: { request(call: object): Promise<unknown> } }
      const found: Detail[] = []
      addEventListener('eip6963:announceProvider', (event) =>
        found.push((event as CustomEvent<Detail>).detail),
      )
      dispatchEvent(new Event('eip6963:requestProvider'))
      const { request } = found.find(({ info }) => info.name === name)!.provider
      const [address] = (await request({ method: 'eth_requestAccounts' })) as string[]
      const params = ['0x68656c6c6f', address] // "hello"
      return request({ method: 'personal_sign', params }).catch((error) => error.code)
    }, name)
  const signature = (await sign('Another')) as `0x${string}`
  expect(await verifyMessage({ address: other.address, message: 'hello', signature })).toBe(true)
  expect(other.signed).toEqual(['hello'])
  wallet.rejects = true
  await expect(sign('Test wallet')).rejects.toThrow('The user rejected the request.')
})
