// The options of `walletOnly`, checked when the handler is made.

import { SvcError } from '../../errors.ts'
import { isBytes } from '../../platform-objects.ts'
import { addressFault } from '../../siwe/index.ts'
import { KEY_MIN_BYTES } from './limits.ts'

/** WalletOptions are the options of `walletOnly`. */
export interface WalletOptions {
  /**
   * The addresses of the wallets that may sign in: `0x` and 40 hexadecimal digits. An address in lower or upper case is accepted as
   * it is; one in mixed case must have the right checksum (EIP-55).
   */
  wallets: readonly string[]
  /**
   * The URL of a JSON-RPC endpoint of the chain, for checking the signatures of contract wallets (ERC-1271). It is asked
   * only about wallets of the list.
   * @default none: contract wallets cannot sign in
   */
  rpc?: string | URL | undefined
  /**
   * The chain ID (EIP-155) in the message.
   * @default 1
   */
  chainId?: number | undefined
  /**
   * The key that signs the cookies, 32 bytes or more. With a stored key, visitors stay signed in when the handler is made again, but
   * their earlier sign-outs are forgotten.
   * @default a random one
   */
  key?: Uint8Array | undefined
}

/** The checked options of `walletOnly`. */
export interface CheckedOptions {
  /** The addresses in lower case. */
  wallets: ReadonlySet<string>
  rpc: URL | undefined
  chainId: number
  key: Uint8Array
}

/** @throws SvcError `invalid_option` that names the option */
export function checkOptions({ wallets, rpc, chainId = 1, key }: WalletOptions): CheckedOptions {
  if (!Array.isArray(wallets) || wallets.length === 0)
    throw new SvcError('invalid_option', 'wallets has to name one wallet at least, else nobody could sign in')
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    throw new SvcError('invalid_option', 'chainId has to be a whole number above 0')
  if (key !== undefined && (!isBytes(key) || key.length < KEY_MIN_BYTES))
    throw new SvcError('invalid_option', `key has to have ${KEY_MIN_BYTES} bytes or more`)
  return {
    wallets: new Set(wallets.map(checkAddress)),
    rpc: rpc === undefined ? undefined : checkRpc(rpc),
    chainId,
    key: key ?? crypto.getRandomValues(new Uint8Array(KEY_MIN_BYTES)),
  }
}

function checkAddress(address: string): string {
  const fault = addressFault(address)
  if (fault !== undefined) throw new SvcError('invalid_option', `wallets: ${fault}`)
  return address.toLowerCase()
}

function checkRpc(rpc: string | URL): URL {
  const url = URL.parse(String(rpc))
  // The message leaves out the URL, which may contain an API key.
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new SvcError('invalid_option', 'rpc has to be an http(s) URL')
  return url
}
