// Limits how many bytes of requests may be in memory at once: of one client, and of all together.

import { RelayError } from '../errors.ts'
import { NetworkCounts } from './fair-share.ts'

/**
 * Bytes in memory of the requests of clients without a token, from one network. Metadata of open challenges counts.
 */
const UNAUTHENTICATED_BYTES_PER_NETWORK_MAX = 1024 * 1024
/** The same from all networks. */
const UNAUTHENTICATED_BYTES_MAX = 64 * 1024 * 1024
/** `Retry-After` of a request that is refused for its memory. Most bodies arrive within one round trip. */
const BODY_MEMORY_RETRY_S = 2

/** The memory of one request, or of data kept from it. */
export interface MemoryShare {
  /**
   * @param bytes new total
   * @throws RelayError `rate_limited` when that is too much; the share is then unchanged
   */
  resize(bytes: number): void
  /** Gives everything back; may be called more than once. */
  release(): void
}

interface MemoryBounds {
  /** Bytes. */
  perClient: number
  total: number
}

export class RequestMemory {
  readonly #bounds: MemoryBounds
  readonly #perClient = new NetworkCounts()
  #total = 0

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds
  }

  /** Bytes in use. */
  get total(): number {
    return this.#total
  }

  /** Bytes that a client uses. */
  usedBy(client: string): number {
    return this.#perClient.of(client)
  }

  /** @param client the network of an address, or the id of a lease */
  share(client: string): MemoryShare {
    let taken = 0
    const resize = (bytes: number): void => {
      if (bytes > taken) this.#requireRoom(client, bytes - taken)
      this.#take(client, bytes - taken)
      taken = bytes
    }
    return { resize, release: () => resize(0) }
  }

  #requireRoom(client: string, bytes: number): void {
    const { perClient, total } = this.#bounds
    const free = total - this.#total
    if (bytes > free) throw full('all requests together')
    if (this.usedBy(client) + bytes > perClient || !this.#perClient.mayHave(bytes, client, free, total))
      throw full('your requests')
  }

  #take(client: string, bytes: number): void {
    this.#total += bytes
    this.#perClient.add(client, bytes)
  }
}

/**
 * Creates the limit for requests of clients that have shown no credential, and for data kept of them.
 * @param raisedBy the factor by which a network may register more often than usual
 */
export function unauthenticatedMemory(raisedBy = 1): RequestMemory {
  return new RequestMemory({
    perClient: Math.min(UNAUTHENTICATED_BYTES_PER_NETWORK_MAX * raisedBy, UNAUTHENTICATED_BYTES_MAX),
    total: UNAUTHENTICATED_BYTES_MAX,
  })
}

function full(whose: string): RelayError {
  return new RelayError('rate_limited', `${whose} take too much of the relay's memory just now`, {
    'Retry-After': `${BODY_MEMORY_RETRY_S}`,
  })
}
