// Lists the relays of other protocol versions, so that people see why one is not used.
import type { DiscoveryResponse } from '@svc/protocol'
import { formatAgo } from '../common/format.ts'
import { sanitizeText } from '../common/sanitize-text.ts'
import type { VNode } from '../preact.ts'
import { RELAYS } from '../texts/relays.ts'

export function IncompatibleRelays({
  relays,
}: {
  relays: DiscoveryResponse['incompatible_relays']
}): VNode | null {
  if (relays.length === 0) return null
  return (
    <section class="card" aria-labelledby="incompatible-heading">
      <h2 id="incompatible-heading">{RELAYS.incompatible}</h2>
      <p class="quiet">{RELAYS.incompatibleAbout}</p>
      <ul class="lines">
        {relays.map(({ url, protocol_version, last_seen_at }) => (
          <li key={url}>
            <bdi>{sanitizeText(url)}</bdi>
            <bdi class="quiet">{RELAYS.version(sanitizeText(protocol_version), formatAgo(last_seen_at))}</bdi>
          </li>
        ))}
      </ul>
    </section>
  )
}
