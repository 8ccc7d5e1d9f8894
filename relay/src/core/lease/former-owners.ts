// Remembers who had a friendly hostname last, so that the relay can tell the next owner. It forgets the oldest first.

/** Names whose last owner the relay remembers, to tell the next one. It forgets the oldest first: some 20 MB at most. */
const FORMER_OWNERS_MAX = 65_536

export interface FormerOwner {
  /** Identity key. */
  key: string
  /** Relay time at which its lease ended. */
  until: number
  /** Relay time until which the owner's own certificate may be valid. */
  certifiedUntil?: number | undefined
}

export class FormerOwners {
  /** By hostname. */
  readonly #owners = new Map<string, FormerOwner>()

  add(hostname: string, owner: FormerOwner): void {
    this.#owners.delete(hostname)
    this.#owners.set(hostname, owner)
    const [oldest] = this.#owners.keys()
    if (this.#owners.size > FORMER_OWNERS_MAX) this.#owners.delete(oldest!)
  }

  of(hostname: string): FormerOwner | undefined {
    return this.#owners.get(hostname)
  }

  /** @returns undefined when no other identity is known to have had the hostname last */
  before(key: string, hostname: string): FormerOwner | undefined {
    const owner = this.#owners.get(hostname)
    return owner?.key === key ? undefined : owner
  }
}
