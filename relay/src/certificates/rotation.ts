// The certificates in use: those of now and, for a while, those before, which tenants may not have let go of yet.

import { X509Certificate } from 'node:crypto'
import { PREVIOUS_CERTIFICATES_MS } from '../limits.ts'
import type { Certificates } from './store.ts'

export class CertificateRotation {
  readonly #onReplace = new Set<(next: Certificates) => void>()
  #current: Certificates
  #previous: { certificates: Certificates; until: number } | undefined

  constructor(first: Certificates) {
    this.#current = first
  }

  get current(): Certificates {
    return this.#current
  }

  /** What a tenant may present in a handshake, the newest first. */
  get presentable(): readonly Certificates[] {
    if (this.#previous === undefined || this.#previous.until <= Date.now()) return [this.#current]
    return [this.#current, this.#previous.certificates]
  }

  /** Called with what new handshakes are to use. */
  onReplace(listener: (next: Certificates) => void): void {
    this.#onReplace.add(listener)
  }

  /** @returns whether they are others than those in use */
  replace(next: Certificates): boolean {
    const previous = this.#current
    if (next.chainPem === previous.chainPem && next.key.equals(previous.key)) return false
    const expiresAt = new X509Certificate(previous.chain[0]!).validToDate.getTime()
    const until = Math.min(Date.now() + PREVIOUS_CERTIFICATES_MS, expiresAt)
    this.#previous = { certificates: previous, until }
    this.#current = next
    for (const listener of this.#onReplace) listener(next)
    return true
  }
}
