// Verifies a relay's descriptor: its form, its expiry, and that the address in it signed it. The caller brings the
// cryptography, so that relay and SDKs share the rest.

import { DESCRIPTOR_SIGNATURE_BYTES, descriptorText, type RelayDescriptor } from './discovery.ts'
import { normalizeAddress } from './names.ts'

/**
 * RecoverTextSigner finds the address of the key that signed the SHA-256 of `text`. It returns undefined when no key can
 * have made the signature.
 * @param signature 65 bytes: r, s, and the recovery bit, plain or with 27 added
 */
export type RecoverTextSigner = (
  text: string,
  signature: Uint8Array,
) => string | undefined | Promise<string | undefined>

/**
 * DescriptorFault is the reason for which a descriptor is refused: a field is missing or has another form, its time is
 * over, or its signature is not of the key of its address.
 */
export type DescriptorFault = 'malformed' | 'expired' | 'forged'

/** DescriptorVerdict is a verified descriptor, or the fault of a refused one. */
export type DescriptorVerdict =
  | { descriptor: RelayDescriptor; fault?: undefined }
  | { descriptor?: undefined; fault: DescriptorFault }

/**
 * verifyDescriptor checks a descriptor from an untrusted source. The signature comes last, since it costs the most.
 * @param value parsed JSON
 * @param now milliseconds since the epoch; a descriptor is expired from its `expires_at` on, and `issued_at` is not compared
 */
export async function verifyDescriptor(
  value: unknown,
  now: number,
  recoverSigner: RecoverTextSigner,
): Promise<DescriptorVerdict> {
  if (!isDescriptor(value)) return { fault: 'malformed' }
  if (Date.parse(value.expires_at) <= now) return { fault: 'expired' }
  const signature = base64Bytes(value.signature)
  if (signature?.length !== DESCRIPTOR_SIGNATURE_BYTES) return { fault: 'malformed' }
  const signer = await recoverSigner(descriptorText(value), signature)
  const isGenuine = signer?.toLowerCase() === value.address.toLowerCase()
  return isGenuine ? { descriptor: value } : { fault: 'forged' }
}

/** Each field has to be present with its type: the relay signed all of them. */
const FIELDS: Record<keyof RelayDescriptor, (value: unknown) => boolean> = {
  address: (value) => typeof value === 'string' && normalizeAddress(value) !== undefined,
  version: (value) => isText(value) || isNumber(value),
  issued_at: isTime,
  expires_at: isTime,
  api_https_addr: isApiAddress,
  wireguard_public_key: isText,
  wireguard_port: isNumber,
  supports_overlay: isFlag,
  supports_udp: isFlag,
  supports_tcp: isFlag,
  active_connections: isNumber,
  tcp_bps: isNumber,
  signature: isText,
}

function isDescriptor(value: unknown): value is RelayDescriptor {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(FIELDS).every(([name, isValid]) => isValid((value as Record<string, unknown>)[name]))
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isNumber(value: unknown): boolean {
  return Number.isFinite(value)
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean'
}

/** RFC 3339 with at most nanoseconds. `Date.parse` alone takes other forms. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function isTime(value: unknown): boolean {
  return typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value))
}

function isApiAddress(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url?.protocol === 'https:' && url.username === '' && url.password === ''
}

/**
 * Decodes base64 (RFC 4648 §4).
 * @returns undefined for text that is not base64
 */
function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
