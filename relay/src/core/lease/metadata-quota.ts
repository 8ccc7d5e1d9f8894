// Limits the metadata of all leases together: a picture is larger than everything else that the relay keeps of a lease.

import type { LeaseMetadata } from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import { RelayError } from '../errors.ts'
import { NetworkCounts } from '../rate-limit/fair-share.ts'
import type { Lease } from './lease.ts'

/**
 * Metadata of all leases together, in UTF-16 code units. A code unit takes one byte, or two in texts beyond Latin-1.
 */
export const METADATA_TOTAL_MAX_CHARS: number = 128 * 1024 * 1024

/** Returns the size in UTF-16 code units. */
export function metadataSize({ description, owner, thumbnail, tags = [] }: LeaseMetadata): number {
  return [description, owner, thumbnail, ...tags].reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

export class MetadataQuota {
  readonly #held = new Map<Lease, { size: number; network: string }>()
  readonly #perNetwork = new NetworkCounts()
  #total = 0

  /**
   * @param clientIp address of the client, normalized
   * @param replaced the lease whose metadata is replaced
   * @throws RelayError `feature_unavailable` when there is no room; the lease may be registered with less metadata
   */
  require(metadata: LeaseMetadata, clientIp: string, replaced?: Lease): void {
    const own = (replaced && this.#held.get(replaced)?.size) ?? 0
    const more = metadataSize(metadata) - own
    if (
      more > 0 &&
      !this.#perNetwork.mayHave(
        more,
        networkOf(clientIp),
        METADATA_TOTAL_MAX_CHARS - this.#total,
        METADATA_TOTAL_MAX_CHARS,
      )
    )
      throw new RelayError('feature_unavailable', 'this relay has no room for that much metadata')
  }

  /** Counts the current metadata of `lease`. */
  set(lease: Lease): void {
    this.release(lease)
    const held = { size: metadataSize(lease.metadata), network: networkOf(lease.clientIp) }
    this.#held.set(lease, held)
    this.#count(held.network, held.size)
  }

  release(lease: Lease): void {
    const held = this.#held.get(lease)
    if (held !== undefined) this.#count(held.network, -held.size)
    this.#held.delete(lease)
  }

  #count(network: string, change: number): void {
    this.#total += change
    this.#perNetwork.add(network, change)
  }
}
