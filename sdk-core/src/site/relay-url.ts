// Parses the address of a relay.

import { isUrl } from '../platform-objects.ts'

/** Returns the URL of a relay: `https:`, without credentials. Undefined when `relay` is not one. */
export function relayUrl(relay: unknown): URL | undefined {
  const url = typeof relay === 'string' || isUrl(relay) ? URL.parse(relay) : null
  return url?.protocol === 'https:' && url.username + url.password === '' ? url : undefined
}
