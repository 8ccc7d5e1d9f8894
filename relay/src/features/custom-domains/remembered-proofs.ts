// Remembers for a while who has proved a domain, so that a site that registers again, such as a page that is reloaded, has it at once.

import { PROOFS_MAX } from './limits.ts'

export interface RememberedProof {
  identityKey: string
  /** Relay time at which the look-up began. */
  provenAt: number
}

export class RememberedProofs {
  readonly #max: number
  /** By domain; the one that was added longest ago is first, and is forgotten first. */
  readonly #proofs = new Map<string, RememberedProof>()

  constructor(max: number = PROOFS_MAX) {
    this.#max = max
  }

  /** @returns undefined when the last proof of the domain was not this identity's */
  of(domain: string, identityKey: string): RememberedProof | undefined {
    const proof = this.#proofs.get(domain)
    return proof?.identityKey === identityKey ? proof : undefined
  }

  add(domain: string, proof: RememberedProof): void {
    this.#proofs.delete(domain)
    this.#proofs.set(domain, proof)
    const [first] = this.#proofs.keys()
    if (this.#proofs.size > this.#max && first !== undefined) this.#proofs.delete(first)
  }

  /** Forgets an earlier proof of another identity. */
  outdate(domain: string, { identityKey, provenAt }: RememberedProof): void {
    const proof = this.#proofs.get(domain)
    if (proof !== undefined && proof.identityKey !== identityKey && proof.provenAt < provenAt)
      this.#proofs.delete(domain)
  }

  remove(domain: string, identityKey: string): void {
    if (this.of(domain, identityKey) !== undefined) this.#proofs.delete(domain)
  }
}
