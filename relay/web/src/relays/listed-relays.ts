// Reads the answer of `GET /discovery` for the list. Invalid descriptors are left out.
import { type DiscoveryResponse, parseDescriptor, type RelayDescriptor } from '@svc/protocol'
import { sanitizeText } from '../common/sanitize-text.ts'

export interface ListedRelay {
  descriptor: RelayDescriptor
  /** Origin of its URL. */
  origin: string
  /** The release that it reported; empty when unknown. */
  release: string
}

/** @returns the answering relay first, then the others by origin, each once */
export function listedRelays({
  relays,
  release_version,
  relay_release_versions,
}: DiscoveryResponse): ListedRelay[] {
  const listed = relays.flatMap((value, index) => {
    const descriptor = parseDescriptor(value)
    if (descriptor === undefined) return []
    const { origin } = new URL(descriptor.api_https_addr)
    const release = index === 0 ? release_version : relay_release_versions[origin]
    return [{ descriptor, origin, release: sanitizeText(`${release ?? ''}`) }]
  })
  const unique = [...new Map(listed.toReversed().map((relay) => [relay.origin, relay])).values()].toReversed()
  return [...unique.slice(0, 1), ...unique.slice(1).sort((a, b) => (a.origin < b.origin ? -1 : 1))]
}
