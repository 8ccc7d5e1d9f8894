// The file of an identity, `identity.json`, as relays and SDKs read it: a private key, or a mnemonic with a path.

/**
 * The default derivation path of a mnemonic's key: the first account of a wallet (BIP 44, SLIP 44).
 */
export const DERIVATION_PATH_DEFAULT = "m/44'/60'/0'/0/0"

const PRIVATE_KEY = /^(?:0x)?([0-9a-f]{64})$/i

/**
 * Returns the 64 hexadecimal digits of `private_key`, in lower case. A `0x` before them is optional.
 * @returns undefined for anything else
 */
export function privateKeyDigits(privateKey: string): string | undefined {
  return PRIVATE_KEY.exec(privateKey)?.[1]?.toLowerCase()
}
