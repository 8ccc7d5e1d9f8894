// Verifies a relay's descriptor: its format, its expiry, and its signature by its own address. The caller passes the
// cryptography, so that relay and SDKs share the rest.

import { DESCRIPTOR_SIGNATURE_BYTES, descriptorTexts, type RelayDescriptor } from './discovery.ts'
import { normalizeAddress } from './names.ts'

/**
 * RecoverTextSigner returns the address of the key that signed the SHA-256 of `text`, or undefined when no key can
 * have made the signature.
 * @param signature 65 bytes: r, s, and the recovery bit, plain or with 27 added
 */
export type RecoverTextSigner = (
  text: string,
  signature: Uint8Array,
) => string | undefined | Promise<string | undefined>

/**
 * DescriptorFault is the reason why a descriptor is refused: a field is missing or malformed, it has
 * expired, or its signature is not by the key of its address.
 */
export type DescriptorFault = 'malformed' | 'expired' | 'forged'

/** DescriptorVerdict is a verified descriptor, or the fault of a refused one. */
export type DescriptorVerdict =
  | { descriptor: RelayDescriptor; fault?: undefined }
  | { descriptor?: undefined; fault: DescriptorFault }

/**
 * verifyDescriptor checks a descriptor from an untrusted source. The signature comes last, because it costs the most.
 * @param value parsed JSON
 * @param now milliseconds since the epoch; a descriptor is expired from `expires_at`; `issued_at` is not checked
 */
export async function verifyDescriptor(
  value: unknown,
  now: number,
  recoverSigner: RecoverTextSigner,
): Promise<DescriptorVerdict> {
  const descriptor = parseDescriptor(value)
  if (descriptor === undefined) return { fault: 'malformed' }
  if (Date.parse(descriptor.expires_at) <= now) return { fault: 'expired' }
  return (await isSignedByItsAddress(descriptor, recoverSigner)) ? { descriptor } : { fault: 'forged' }
}

/**
 * isSignedByItsAddress resolves with whether the key of the descriptor's address signed it.
 * @param descriptor as {@link parseDescriptor} returns it
 */
export async function isSignedByItsAddress(
  descriptor: RelayDescriptor,
  recoverSigner: RecoverTextSigner,
): Promise<boolean> {
  const address = descriptor.address.toLowerCase()
  const readings = signatureReadings(base64Bytes(descriptor.signature) ?? new Uint8Array())
  for (const text of descriptorTexts(descriptor)) {
    for (const signature of readings) {
      if ((await recoverSigner(text, signature))?.toLowerCase() === address) return true
    }
  }
  return false
}

/** The first byte of a compact signature: 27, 4 more for a compressed public key, and the recovery bit. */
const COMPACT_FIRST = 27
const COMPACT_LAST = 34
/** The values of Ethereum's recovery bit, which follows r and s: plain or with 27 added. */
const RECOVERY_BITS = [0, 1, 27, 28]

/**
 * Returns r, s and the recovery bit in this order. A relay may also write the compact form, whose first byte is the bit; some
 * signatures can be read both ways.
 */
function signatureReadings(signature: Uint8Array): Uint8Array[] {
  const readings: Uint8Array[] = []
  const [first, last] = [signature[0]!, signature[DESCRIPTOR_SIGNATURE_BYTES - 1]!]
  if (first >= COMPACT_FIRST && first <= COMPACT_LAST)
    readings.push(Uint8Array.of(...signature.subarray(1), (first - COMPACT_FIRST) % 4))
  if (RECOVERY_BITS.includes(last)) readings.push(signature)
  return readings
}

/** The fields that a relay may leave out, with the values that it then signed. */
const ZERO_VALUES = {
  wireguard_public_key: '',
  wireguard_port: 0,
  supports_overlay: false,
  supports_udp: false,
  supports_tcp: false,
  active_connections: 0,
  tcp_bps: 0,
} as const satisfies Partial<RelayDescriptor>

const PORT_MAX = 65_535
/** The longest base64 text to decode, in characters. */
const SIGNATURE_MAX_CHARS = Math.ceil(DESCRIPTOR_SIGNATURE_BYTES / 3) * 4

/** The type of each field, all of which the relay signed. */
const FIELDS: Record<keyof RelayDescriptor, (value: unknown) => boolean> = {
  address: (value) => typeof value === 'string' && normalizeAddress(value) !== undefined,
  version: (value) => isText(value) || isNumber(value),
  issued_at: isTime,
  expires_at: isTime,
  api_https_addr: isApiAddress,
  wireguard_public_key: isText,
  wireguard_port: (value) => isCount(value) && Number(value) <= PORT_MAX,
  supports_overlay: isFlag,
  supports_udp: isFlag,
  supports_tcp: isFlag,
  active_connections: isCount,
  tcp_bps: (value) => isNumber(value) && Number(value) >= 0,
  signature: (value) =>
    typeof value === 'string' &&
    value.length <= SIGNATURE_MAX_CHARS &&
    base64Bytes(value)?.length === DESCRIPTOR_SIGNATURE_BYTES,
}

/**
 * parseDescriptor returns a descriptor with exactly its own fields, unchanged. Fields that a relay left out because they were
 * empty, false or 0 get that value.
 * @param value parsed JSON
 * @returns undefined when a field is missing or malformed
 */
export function parseDescriptor(value: unknown): RelayDescriptor | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const given = value as Record<string, unknown>
  const zeros: Record<string, unknown> = ZERO_VALUES
  const whole: Record<string, unknown> = {}
  for (const [name, isOfForm] of Object.entries(FIELDS)) {
    const field = Object.hasOwn(given, name) ? given[name] : zeros[name]
    if (!isOfForm(field)) return undefined
    whole[name] = field
  }
  return whole as unknown as RelayDescriptor
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isNumber(value: unknown): boolean {
  return Number.isFinite(value)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean'
}

/** RFC 3339 with at most nanoseconds. `Date.parse` accepts other formats too. */
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
    const chars = atob(text)
    const bytes = new Uint8Array(chars.length)
    for (let at = 0; at < bytes.length; at++) bytes[at] = chars.charCodeAt(at)
    return bytes
  } catch {
    return undefined
  }
}
