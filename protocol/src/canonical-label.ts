// The label of the canonical hostname, which belongs to one identity.

import { ADDRESS_HEX_CHARS } from './limits.ts'
import { normalizeAddress, normalizeName } from './names.ts'

/**
 * Returns the first label of the canonical hostname: `<name>-<address>`, the address without `0x`. The protocol's
 * hashed form for longer names does not occur here, because registration refuses such names.
 * @param name as {@link normalizeName} returns it
 * @param address as {@link normalizeAddress} returns it
 * @throws RangeError for any other: the label might exceed the 63 octets of a DNS label, or be another identity's
 */
export function canonicalLabel(name: string, address: string): string {
  if (normalizeName(name) !== name)
    throw new RangeError(`${JSON.stringify(name)} is no normalized lease name`)
  if (normalizeAddress(address) !== address)
    throw new RangeError(`${JSON.stringify(address)} is no normalized address`)
  return `${name}-${address.slice(2)}`
}

/**
 * Returns a label as {@link canonicalLabel} makes it, in lower case.
 * @returns undefined when `label` is not a canonical label
 */
export function normalizeCanonicalLabel(label: string): string | undefined {
  const hyphen = label.length - ADDRESS_HEX_CHARS - 1
  const name = label.slice(0, Math.max(0, hyphen))
  const isOfIdentity =
    normalizeName(name) === name.toLowerCase() &&
    label[hyphen] === '-' &&
    normalizeAddress(label.slice(hyphen + 1)) !== undefined
  return isOfIdentity ? label.toLowerCase() : undefined
}
