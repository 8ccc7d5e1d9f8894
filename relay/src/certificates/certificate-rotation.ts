// The certificates in use: those of now and, for a while, those before, which tenants may not have let go of yet.

import { X509Certificate } from 'node:crypto'
import { fromWallTime, now } from '../clock.ts'
import { PREVIOUS_CERTIFICATES_MS } from '../limits.ts'
import type { Certificates } from './certificate-files.ts'

/** Certificates that were in use, and may still be presented for a while. */
export interface Replaced {
  certificates: Certificates
  /** Relay time. */
  until: number
}

export class CertificateRotation {
  readonly #onReplace = new Set<(next: Certificates) => void>()
  #current: Certificates
  #previous: Replaced | undefined

  /** @param previous of before a restart */
  constructor(first: Certificates, previous?: Replaced) {
    this.#current = first
    this.#previous = previous
  }

  get current(): Certificates {
    return this.#current
  }

  /** What a tenant may present in a handshake, the newest first. */
  get presentable(): readonly Certificates[] {
    if (this.#previous === undefined || this.#previous.until <= now()) return [this.#current]
    return [this.#current, this.#previous.certificates]
  }

  /** Called with what new handshakes are to use. */
  onReplace(listener: (next: Certificates) => void): void {
    this.#onReplace.add(listener)
  }

  /** @returns those that were in use; undefined when they are the same */
  replace(next: Certificates): Replaced | undefined {
    const previous = this.#current
    if (next.chainPem === previous.chainPem && next.key.equals(previous.key)) return undefined
    const expiresAt = new X509Certificate(previous.chain[0]!).validToDate.getTime()
    const until = Math.min(now() + PREVIOUS_CERTIFICATES_MS, fromWallTime(expiresAt))
    this.#previous = { certificates: previous, until }
    this.#current = next
    for (const listener of this.#onReplace) listener(next)
    return this.#previous
  }
}
