// When to renew a certificate: when a third of its lifetime is left, or earlier when the authority says so (RFC 9773).

import { hash, X509Certificate } from 'node:crypto'
import { authorityKeyId, certificateFields } from '@svc/tls/der'
import type { AcmeTransport } from './transport.ts'

/** Milliseconds of the wall clock. */
interface Window {
  start: number
  end: number
}

const SHARE_LEFT: number = 1 / 3
/**
 * An authority may ask for a renewal only after this share of the lifetime: otherwise a wrong answer would cause a
 * loop.
 */
const EARLIEST_SHARE = 0.1
const EARLIEST_MAX_MS = 3_600_000
const FRACTION_BYTES = 6

/** A third of the lifetime before its end. @returns milliseconds of the wall clock */
export function usualRenewalTime(leaf: X509Certificate): number {
  const [from, to] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  return to - (to - from) * SHARE_LEFT
}

/**
 * Asks the authority for the time, and falls back to {@link usualRenewalTime}.
 * @param directory URL of the ACME directory
 * @param chain PEM
 * @throws AcmeError when the authority does not answer
 */
export async function renewalTimeOf(
  chain: string,
  directory: string,
  transport: AcmeTransport,
  signal: AbortSignal,
): Promise<number> {
  const leaf = new X509Certificate(chain)
  const usual = usualRenewalTime(leaf)
  const id = certificateIdOf(leaf)
  const { renewalInfo } = await transport.getJson(directory, signal)
  if (id === undefined || typeof renewalInfo !== 'string') return usual
  const { suggestedWindow } = await transport.getJson(`${renewalInfo}/${id}`, signal)
  const window = windowOf(suggestedWindow)
  const [from, to] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  // A window longer than the lifetime cannot be about this certificate.
  if (window === undefined || window.end - window.start > to - from) return usual
  const at = window.start + (window.end - window.start) * fractionOf(id)
  const earliest = from + Math.min((to - from) * EARLIEST_SHARE, EARLIEST_MAX_MS)
  return Math.min(usual, Math.max(at, earliest))
}

/** The identifier of a certificate (RFC 9773 §4.1); undefined for one that does not name the key of its issuer. */
export function certificateIdOf(leaf: X509Certificate): string | undefined {
  const fields = certificateFields(leaf.raw)
  const keyId = authorityKeyId(fields)
  if (keyId === undefined) return undefined
  const serialNumber = Buffer.from(fields.serialNumber.content)
  return `${Buffer.from(keyId).toString('base64url')}.${serialNumber.toString('base64url')}`
}

function windowOf(value: unknown): Window | undefined {
  const { start, end } = Object(value)
  const window = { start: Date.parse(start), end: Date.parse(end) }
  return window.end > window.start ? window : undefined
}

/** A number from 0 to below 1, always the same for one certificate, so that relays do not all renew at once. */
function fractionOf(id: string): number {
  return hash('sha256', id, 'buffer').readUIntBE(0, FRACTION_BYTES) / 2 ** (8 * FRACTION_BYTES)
}
