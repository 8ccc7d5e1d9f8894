// Parses the addresses of relays synchronously, without loading messages.

import { SvcError } from '../errors.ts'
import { wrongRelay } from '../sentences.ts'
import { relayUrl } from './relay-url.ts'

/**
 * Parses the URL of a relay.
 * @throws SvcError `invalid_option`
 */
export function parseRelay(relay: string | URL): URL {
  const url = relayUrl(relay)
  if (url === undefined) throw new SvcError('invalid_option', wrongRelay(relay))
  return url
}

/**
 * Parses the URLs of relays, and drops duplicates by origin.
 * @throws SvcError `invalid_option`
 */
export function parseRelays(relays: readonly (string | URL)[]): URL[] {
  const seen = new Set<string>()
  return relays.map(parseRelay).filter(({ origin }) => seen.size < seen.add(origin).size)
}
