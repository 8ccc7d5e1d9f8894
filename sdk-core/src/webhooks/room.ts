// The memory for bodies that wait: bounded as a whole, and for each network.

import { networkOf } from '../access/network.ts'
import type { RemoteAddress } from '../exchange/fetch-handler.ts'

/** A Room counts the bytes that are kept for visitors. */
export class Room {
  readonly #maxBytes: number
  readonly #shareBytes: number
  readonly #shares = new Map<string, number>()
  #bytes = 0

  /** @param shareBytes the most bytes for one network */
  constructor(maxBytes: number, shareBytes: number) {
    this.#maxBytes = maxBytes
    this.#shareBytes = shareBytes
  }

  /** @returns false when there is no room for so many bytes */
  take(remote: RemoteAddress | undefined, bytes: number): boolean {
    const network = networkKey(remote)
    const share = (this.#shares.get(network) ?? 0) + bytes
    if (share > this.#shareBytes || this.#bytes + bytes > this.#maxBytes) return false
    this.#shares.set(network, share)
    this.#bytes += bytes
    return true
  }

  /** Gives bytes back that were taken. */
  release(remote: RemoteAddress | undefined, bytes: number): void {
    const network = networkKey(remote)
    const left = (this.#shares.get(network) ?? 0) - bytes
    if (left > 0) this.#shares.set(network, left)
    else this.#shares.delete(network)
    this.#bytes -= bytes
  }
}

/** Returns the network of a visitor. Those whose address is unknown are one together. */
export function networkKey(remote: RemoteAddress | undefined): string {
  return remote ? networkOf(remote.address) : ''
}
