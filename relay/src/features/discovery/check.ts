// Checks discovery before a start: which relays would be asked first, and which settings are only for tests.

import { type Found, off, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'

export function checkDiscovery({ discovery, url }: Settings): Found[] {
  const { isEnabled, bootstraps, allowsLoopback } = discovery
  if (!isEnabled) return [off('DISCOVERY is false: the relay asks no other relay, and tells nobody of them.')]
  const others = bootstraps.filter((origin) => origin !== url.origin)
  const found = [
    others.length > 0
      ? ok(`The relay announces itself to ${others.join(', ')}, and learns of others there.`)
      : warning('BOOTSTRAPS names no other relay: this one waits for the announcements of others.'),
  ]
  if (allowsLoopback)
    found.push(warning('DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS lets strangers make the relay ask any address.'))
  return found
}
