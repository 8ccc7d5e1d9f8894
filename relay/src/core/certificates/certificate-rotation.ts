// Holds the current certificates and, for a while, the previous ones, which sites may still present.

import { X509Certificate } from 'node:crypto'
import { fromWallTime, now } from '../clock.ts'
import type { Certificates } from './certificate-files.ts'

/** How long the relay signs for replaced certificates: twice the interval at which an SDK fetches the chain. */
export const PREVIOUS_CERTIFICATES_MS: number = 2 * 60 * 60_000

/** Previous certificates, which sites may present for a while. */
export interface Replaced {
  certificates: Certificates
  /** Relay time. */
  until: number
}

export class CertificateRotation {
  readonly #onReplace = new Set<(next: Certificates) => void>()
  #current: Certificates
  #previous: Replaced | undefined

  /** @param previous the previous certificates from before a restart */
  constructor(first: Certificates, previous?: Replaced) {
    this.#current = first
    this.#previous = previous
  }

  /** False until the relay has its first certificate. */
  get hasCertificate(): boolean {
    return this.#current.chain.length > 0
  }

  get current(): Certificates {
    return this.#current
  }

  /** Certificates that a site may present in a handshake, newest first, except those that cover only the root host. */
  get presentable(): readonly Certificates[] {
    const isRecent = this.#previous !== undefined && this.#previous.until > now()
    const both = isRecent ? [this.#current, this.#previous!.certificates] : [this.#current]
    return both.filter(({ hasWildcard }) => hasWildcard)
  }

  /**
   * Calls `use` at once, or as soon as the first certificate arrives. Resolves after the call, or when it is scheduled.
   */
  async first(use: () => Promise<void>): Promise<void> {
    if (this.hasCertificate) return await use()
    const once = (): void => {
      this.#onReplace.delete(once)
      void use()
    }
    this.#onReplace.add(once)
  }

  /** Adds a listener, which is called with the certificates of new handshakes. */
  onReplace(listener: (next: Certificates) => void): void {
    this.#onReplace.add(listener)
  }

  /** @returns the previous certificates; undefined when `next` are the current ones, or the first */
  replace(next: Certificates): Replaced | undefined {
    const previous = this.#current
    if (next.chainPem === previous.chainPem && next.key.equals(previous.key)) return undefined
    const [leaf] = previous.chain
    if (leaf === undefined) return this.#take(next, undefined)
    const expiresAt = new X509Certificate(leaf).validToDate.getTime()
    const until = Math.min(now() + PREVIOUS_CERTIFICATES_MS, fromWallTime(expiresAt))
    return this.#take(next, { certificates: previous, until })
  }

  #take(next: Certificates, previous: Replaced | undefined): Replaced | undefined {
    this.#previous = previous
    this.#current = next
    for (const listener of this.#onReplace) listener(next)
    return previous
  }
}
