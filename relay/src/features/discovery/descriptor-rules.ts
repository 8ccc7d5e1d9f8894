// Checks the form, the origin and the times of a descriptor before the relay sends or computes anything for it.

import { isIP } from 'node:net'
import { isPublicAddress, normalizeAddress, parseDescriptor, type RelayDescriptor } from '@svc/protocol'
import { isLocalhost } from '../../core/config/settings.ts'
import { CLOCK_SKEW_MS, DESCRIPTOR_TEXT_MAX_CHARS, DESCRIPTOR_VALID_MS, ORIGIN_MAX_CHARS } from './limits.ts'
import { type Refusal, RelayRefused } from './refusals.ts'

/** A parsed descriptor, in normalized form. Its signature is not verified yet. */
export interface ReadDescriptor {
  descriptor: RelayDescriptor
  /** Origin of `api_https_addr`. */
  origin: string
  /** Lower case with `0x`. */
  address: string
  /** By the wall clock, milliseconds since the epoch. */
  issuedAt: number
  expiresAt: number
}

/**
 * Characters of versions, dates, URLs and base64. Others could take several bytes each when a descriptor is passed on.
 */
const PLAIN = /^[\w.+:/=[\]-]*$/

/** @throws RelayRefused `malformed` or `not_public` */
export function readDescriptor(value: unknown, allowsLoopback: boolean): ReadDescriptor {
  const descriptor = parseDescriptor(value)
  if (descriptor === undefined) throw new RelayRefused('malformed')
  const { api_https_addr, ...others } = descriptor
  const texts = Object.values(others).filter((field) => typeof field === 'string')
  const isLong = texts.some((text) => text.length > DESCRIPTOR_TEXT_MAX_CHARS)
  if (isLong || ![api_https_addr, ...texts].every((text) => PLAIN.test(text)))
    throw new RelayRefused('malformed')
  return {
    descriptor,
    origin: originOf(api_https_addr, allowsLoopback),
    address: normalizeAddress(descriptor.address)!,
    issuedAt: Date.parse(descriptor.issued_at),
    expiresAt: Date.parse(descriptor.expires_at),
  }
}

/** @param now by the wall clock, milliseconds since the epoch */
export function timeFault({ issuedAt, expiresAt }: ReadDescriptor, now: number): Refusal | undefined {
  if (expiresAt <= now) return 'expired'
  if (issuedAt > now + CLOCK_SKEW_MS) return 'future'
  return expiresAt - issuedAt > DESCRIPTOR_VALID_MS || issuedAt > expiresAt ? 'too_long' : undefined
}

/** A host name is resolved, and its addresses are checked, only when the relay dials it. */
function originOf(text: string, allowsLoopback: boolean): string {
  const url = text.length > ORIGIN_MAX_CHARS ? null : URL.parse(text)
  if (url === null || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new RelayRefused('malformed')
  if (!allowsLoopback && !isPublicOrigin(url.origin)) throw new RelayRefused('not_public')
  // It would be a second name of the same host, to which a ban of the first would not apply.
  if (url.hostname.endsWith('.')) throw new RelayRefused('malformed')
  return url.origin
}

/** Returns whether the host of an origin is a public address, or a name that may have one. */
export function isPublicOrigin(origin: string): boolean {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? !isLocalhost(host.replace(/\.$/, '')) : isPublicAddress(host)
}
