// Finds the wallets of a browser (Wallet Standard), and pays with one.

import { refused } from './terms.ts'

/** A PayerWallet signs payments. It gets checked transactions, in Base64 of BCS. */
export interface PayerWallet {
  /** The address on the chain: `0x` and 64 hexadecimal digits. */
  address: string
  /** Returns the signature of the transaction, in Base64. */
  sign(transaction: string): Promise<string>
  /**
   * Signs and executes a transaction that moves coins to where they can be spent.
   * @default the wallet pays only from its address balance
   */
  execute?: ((transaction: string) => Promise<unknown>) | undefined
}

/** A BrowserWallet is one that announces itself by the Wallet Standard. */
export interface BrowserWallet {
  /** The name, for people. */
  readonly name: string
  readonly accounts: readonly BrowserAccount[]
  /** Its features, by their names in the standard. */
  readonly features: Readonly<Record<string, unknown>>
}

interface BrowserAccount {
  readonly address: string
  readonly chains: readonly string[]
}

interface Registry {
  register(...added: BrowserWallet[]): () => void
}

/** The features used here, as the standard defines them. */
interface Features {
  'standard:connect': { connect(): Promise<{ accounts?: readonly BrowserAccount[] }> }
  'sui:signTransaction': {
    signTransaction(input: unknown): Promise<{ bytes?: string; signature: string }>
  }
  'sui:signAndExecuteTransaction'?: { signAndExecuteTransaction(input: unknown): Promise<unknown> }
}

const found: Set<BrowserWallet> = new Set()
let isLooking = false

/** Returns the wallets of this browser that can sign payments, including late announcements. */
export function wallets(): BrowserWallet[] {
  look()
  return [...found].filter(
    ({ features }) =>
      features['standard:connect'] !== undefined && features['sui:signTransaction'] !== undefined,
  )
}

/**
 * Asks the person for an account, and returns the wallet for `x402Fetch`.
 * @param network such as `sui:mainnet`
 * @throws SvcError `payment_refused` when the wallet has no account there, or the error of the wallet
 */
export async function connect(wallet: BrowserWallet, network: string): Promise<PayerWallet> {
  const features = wallet.features as unknown as Features
  const { accounts = wallet.accounts } = await features['standard:connect'].connect()
  const account = accounts.find(({ chains }) => chains.includes(network))
  if (!account) throw refused(`The wallet ${wallet.name} has no account on ${network}`)
  const input = (transaction: string): object => ({
    transaction: { toJSON: async () => transaction },
    account,
    chain: network,
  })
  const executes = features['sui:signAndExecuteTransaction']
  return {
    address: account.address,
    async sign(transaction) {
      const { bytes, signature } = await features['sui:signTransaction'].signTransaction(input(transaction))
      if (bytes !== undefined && bytes !== transaction) throw refused('The wallet signed something else')
      return signature
    },
    ...(executes && { execute: (transaction) => executes.signAndExecuteTransaction(input(transaction)) }),
  }
}

/** Wallets and pages find each other by two events. A wallet that is already loaded answers at once. */
function look(): void {
  if (isLooking || !('document' in globalThis)) return
  isLooking = true
  const registry: Registry = {
    register(...added) {
      for (const wallet of added) found.add(wallet)
      return () => {
        for (const wallet of added) found.delete(wallet)
      }
    },
  }
  addEventListener('wallet-standard:register-wallet', (event) =>
    (event as CustomEvent<(to: Registry) => void>).detail(registry),
  )
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: registry }))
}
