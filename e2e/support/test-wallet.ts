// A browser wallet for tests: pages find it by EIP-6963 and ask it by EIP-1193. Its key stays in the test's process.
import { randomBytes } from 'node:crypto'
import type { BrowserContext } from '@playwright/test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export interface TestWallet {
  /** The address, with its EIP-55 checksum. */
  readonly address: `0x${string}`
  /** The texts that pages had it sign, in order. */
  readonly signed: readonly string[]
  /** A wallet whose user presses "Reject" whatever a page asks (EIP-1193, code 4001). Default: false. */
  rejects: boolean
}

/** The function of the page that asks this process. */
const BINDING = '__testWallet'

/**
 * Gives every page of `context` that is opened from now on a wallet. A context may have several, each with another name.
 * @param privateKey default: a new one
 */
export async function addTestWallet(
  context: BrowserContext,
  {
    name = 'Test wallet',
    privateKey = generatePrivateKey(),
  }: { name?: string; privateKey?: `0x${string}` } = {},
): Promise<TestWallet> {
  const account = privateKeyToAccount(privateKey)
  const signed: string[] = []
  const wallet = { address: account.address, signed, rejects: false }
  const binding = `${BINDING}_${randomBytes(8).toString('hex')}`
  await context.exposeBinding(binding, async (_source, method: string, params: unknown[]) => {
    if (wallet.rejects) return { error: { code: 4001, message: 'The user rejected the request.' } }
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return { result: [account.address] }
    if (method === 'eth_chainId') return { result: '0x1' }
    if (method !== 'personal_sign') return { error: { code: 4200, message: `${method} is not supported.` } }
    const [data, address] = params
    if (typeof data !== 'string' || !/^0x(?:[\da-f]{2})*$/i.test(data) || address !== account.address)
      return {
        error: { code: -32602, message: 'personal_sign takes bytes in hexadecimal, and this account.' },
      }
    const text = Buffer.from(data.slice(2), 'hex').toString()
    signed.push(text)
    return { result: await account.signMessage({ message: text }) }
  })
  await context.addInitScript(announce, { binding, name })
  return wallet
}

/** Runs in the page, before its own scripts. */
function announce({ binding, name }: { binding: string; name: string }): void {
  const ask = Reflect.get(globalThis, binding) as (
    method: string,
    params: readonly unknown[],
  ) => Promise<{ result?: unknown; error?: { code: number; message: string } }>
  const provider = {
    request: async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
      const { result, error } = await ask(method, params)
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
  }
  // The picture is a transparent pixel. The UUID has to differ from wallet to wallet (EIP-6963, "Provider Info").
  const icon = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='
  const uuid = `00000000-0000-4000-8000-${binding.slice(-12)}`
  const info = Object.freeze({ uuid, name, icon, rdns: 'example.test.wallet' })
  const announceNow = () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  addEventListener('eip6963:requestProvider', announceNow)
  announceNow()
}
