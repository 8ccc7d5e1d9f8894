// The relays that an operator bans from discovery, by the address of their identity or by their origin.

import { normalizeAddress } from '@svc/protocol'

/** The URL of a relay in UTF-16 code units: longer than any that discovery accepts. */
export const BANNED_RELAY_MAX_CHARS = 256

/**
 * An address in lower case with `0x`, or the origin of an https URL.
 * @returns undefined when the text is neither
 */
export function normalizeRelay(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return normalizeAddress(text)
  const isOrigin = url.protocol === 'https:' && url.pathname === '/' && url.search === '' && url.hash === ''
  if (!isOrigin || url.username !== '' || url.password !== '') return undefined
  // Discovery accepts no name with a trailing dot.
  url.hostname = url.hostname.replace(/\.$/, '')
  return url.origin
}
