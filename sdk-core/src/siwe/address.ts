// Checks a wallet's address: in one letter case, or with the right checksum (EIP-55).

import { checksumAddress } from '../identity/key.ts'

const ADDRESS = /^0x[\da-f]{40}$/i
const ONE_CASE = /^0x(?:[\da-f]{40}|[\dA-F]{40})$/

/** Returns a message about what is wrong with an address, or undefined when it is valid. */
export function addressFault(address: unknown): string | undefined {
  const shown = JSON.stringify(address)
  if (typeof address !== 'string' || !ADDRESS.test(address))
    return `${shown} is not an address: 0x and 40 hexadecimal digits`
  if (ONE_CASE.test(address) || checksumAddress(address) === address) return undefined
  return `${shown} has a wrong checksum (EIP-55), so that a digit may be wrong: compare it with the wallet`
}
