// Limits the metadata of all leases together: a picture is larger than everything else that the relay keeps of a lease.

import type { LeaseMetadata } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { METADATA_TOTAL_MAX_CHARS } from '../limits.ts'
import type { Lease } from './lease.ts'

/** Returns the size in UTF-16 code units. */
export function metadataSize({ description, owner, thumbnail, tags = [] }: LeaseMetadata): number {
  return [description, owner, thumbnail, ...tags].reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

export class MetadataQuota {
  readonly #sizes = new Map<Lease, number>()
  #total = 0

  /**
   * @param replaced the lease whose own metadata makes room
   * @throws RelayError `feature_unavailable` when there is no room; the lease may be registered with less metadata
   */
  require(metadata: LeaseMetadata, replaced?: Lease): void {
    const others = this.#total - ((replaced && this.#sizes.get(replaced)) ?? 0)
    const size = metadataSize(metadata)
    if (size > 0 && others + size > METADATA_TOTAL_MAX_CHARS)
      throw new RelayError('feature_unavailable', 'this relay has no room for that much metadata')
  }

  /** Counts the current metadata of `lease`. */
  set(lease: Lease): void {
    this.release(lease)
    const size = metadataSize(lease.metadata)
    this.#sizes.set(lease, size)
    this.#total += size
  }

  release(lease: Lease): void {
    this.#total -= this.#sizes.get(lease) ?? 0
    this.#sizes.delete(lease)
  }
}
