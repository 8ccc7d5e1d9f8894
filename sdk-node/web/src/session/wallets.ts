// Finds the wallets of this browser (EIP-6963), and asks one of them for its address and a signature (EIP-1193).

import { sanitizeText } from '@svc/relay-web/common/sanitize-text.ts'
import { Store } from '@svc/relay-web/common/store.ts'

/** The most wallets listed; any number may announce themselves. */
const WALLETS_MAX = 8
/** The most characters shown of a wallet's name. */
const NAME_MAX = 40

interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

export interface Wallet {
  id: string
  name: string
  /** Asks the user to show an address to this page. */
  address(): Promise<string>
  /** Asks the user to sign the message. */
  sign(message: string, address: string): Promise<string>
}

/** The wallets that have announced themselves so far. */
export const wallets: Store<readonly Wallet[]> = new Store<readonly Wallet[]>([])

/** Asks the wallets to announce themselves; wallets that load later do so on their own. */
export function findWallets(): void {
  addEventListener('eip6963:announceProvider', announced)
  dispatchEvent(new Event('eip6963:requestProvider'))
}

function announced(event: Event): void {
  const { info, provider } = ((event as CustomEvent).detail ?? {}) as {
    info?: { uuid?: unknown; name?: unknown }
    provider?: Provider
  }
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string') return
  if (typeof provider?.request !== 'function') return
  const { uuid, name } = info
  const known = wallets.value
  if (known.length >= WALLETS_MAX || known.some(({ id }) => id === uuid)) return
  wallets.set([...known, walletOf(uuid, sanitizeText(name).slice(0, NAME_MAX), provider)])
}

function walletOf(id: string, name: string, provider: Provider): Wallet {
  return {
    id,
    name,
    address: async () => {
      const accounts = await provider.request({ method: 'eth_requestAccounts' })
      const [first] = Array.isArray(accounts) ? accounts : []
      if (typeof first !== 'string') throw new Error('the wallet shows no address')
      return first
    },
    sign: async (message, address) =>
      String(await provider.request({ method: 'personal_sign', params: [hexOf(message), address] })),
  }
}

/** Encodes text as hexadecimal bytes, because wallets treat text that begins with 0x as bytes. */
function hexOf(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'))
  return `0x${bytes.join('')}`
}
