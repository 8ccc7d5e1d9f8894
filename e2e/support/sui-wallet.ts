// A browser wallet for payments in tests: pages find it by the Wallet Standard. Its key stays in the test's process.
import type { BrowserContext } from '@playwright/test'

export interface SuiWalletActions {
  address: string
  /** Signs the BCS form of a transaction; both are Base64. */
  sign(transaction: string): Promise<string>
  /** Carries a transaction out. */
  execute(transaction: string): Promise<void>
}

/** The function of the page that asks this process. */
const BINDING = '__suiWallet'

/** Gives every page of `context` that is opened from now on a wallet. Its user agrees to everything. */
export async function addSuiWallet(
  context: BrowserContext,
  { address, sign, execute }: SuiWalletActions,
): Promise<void> {
  await context.exposeBinding(BINDING, async (_source, action: 'sign' | 'execute', transaction: string) =>
    action === 'sign' ? await sign(transaction) : await execute(transaction),
  )
  await context.addInitScript(register, { binding: BINDING, address })
}

/** Runs in the page, before its own scripts. Source: the Wallet Standard, and its features `sui:…`. */
function register({ binding, address }: { binding: string; address: string }): void {
  interface Input {
    transaction: { toJSON(): Promise<string> }
  }
  const ask = Reflect.get(globalThis, binding) as (action: string, transaction: string) => Promise<string>
  const chains = ['sui:testnet']
  const account = { address, publicKey: new Uint8Array(32), chains, features: ['sui:signTransaction'] }
  const signTransaction = async ({ transaction }: Input) => {
    const bytes = await transaction.toJSON()
    return { bytes, signature: await ask('sign', bytes) }
  }
  const signAndExecuteTransaction = async ({ transaction }: Input) => {
    await ask('execute', await transaction.toJSON())
    return {}
  }
  const wallet = {
    version: '1.0.0',
    name: 'Test wallet',
    chains,
    accounts: [account],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
      'sui:signTransaction': { version: '2.0.0', signTransaction },
      'sui:signAndExecuteTransaction': { version: '2.0.0', signAndExecuteTransaction },
    },
  }
  const registerAt = (registry: { register(wallet: unknown): void }): void => registry.register(wallet)
  addEventListener('wallet-standard:app-ready', (event) => registerAt((event as CustomEvent).detail))
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: registerAt }))
}
