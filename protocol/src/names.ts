// Lease names, addresses of identities, and the key of both.

import { ADDRESS_HEX_CHARS, LEASE_NAME_MAX_CHARS } from './limits.ts'

const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/

/**
 * Returns the normalized lease name: one lower-case ASCII DNS label (RFC 1123 §2.1) of at most 22 characters.
 * @returns undefined when `name` does not normalize to one
 */
export function normalizeName(name: string): string | undefined {
  const label = name.trim()
  // The test comes before the case folding: some letters outside ASCII, such as the Kelvin sign, have ASCII lower
  // forms.
  return label.length <= LEASE_NAME_MAX_CHARS && LABEL.test(label) ? label.toLowerCase() : undefined
}

/** Digits of the address in a generated name. */
const NAME_DIGITS = 8

/**
 * Returns the lease name of an identity that chose none.
 * @param address `0x` and 40 digits
 */
export function nameOfAddress(address: string): string {
  return `svc-${address.slice(2, 2 + NAME_DIGITS).toLowerCase()}`
}

const ADDRESS = new RegExp(`^(?:0x)?([0-9A-Fa-f]{${ADDRESS_HEX_CHARS}})$`)

/**
 * Returns an Ethereum address as `0x` and 40 lower-case digits. The case of the input (EIP-55) is not checked.
 * @returns undefined when `address` is not one
 */
export function normalizeAddress(address: string): string | undefined {
  const digits = ADDRESS.exec(address)?.[1]
  return digits === undefined ? undefined : `0x${digits.toLowerCase()}`
}

/** Returns the identity key, which names a tenant: `name:address`, both normalized. */
export function identityKey(name: string, address: string): string {
  return `${name}:${address}`
}
