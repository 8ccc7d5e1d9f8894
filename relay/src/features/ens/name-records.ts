// Knows what records one hostname should have and has, and makes the difference step by step.

import type { DnsProvider, NameAddresses } from '../dns/provider.ts'

/** Whose records a hostname has. */
export interface NameOwner {
  /** Value of its TXT record. */
  text: string
  /** Whether its address records are those of the relay, since a wildcard does not cover a name that exists (RFC 4592). */
  hasAddresses: boolean
}

export class NameRecords {
  readonly hostname: string
  /** Undefined: the hostname should have no records. */
  wanted: NameOwner | undefined
  /** The value that it has, or may have since a change was cut short. */
  #text: string | undefined
  #isTextSure = false
  /** Those that it has; `unknown` while a change was cut short. */
  #addresses: NameAddresses | 'unknown' | undefined

  /** @param left value that an earlier process may have published; undefined: none did */
  constructor(hostname: string, left?: string) {
    this.hostname = hostname
    if (left === undefined) return
    this.#text = left
    this.#addresses = 'unknown'
  }

  /** The value that the provider has, or may have. */
  get text(): string | undefined {
    return this.#text
  }

  /** Whether nothing is left to do. */
  isDone(addresses: NameAddresses | undefined): boolean {
    const { wanted } = this
    if (wanted === undefined) return this.#text === undefined && this.#addresses === undefined
    if (this.#waitsForAddresses(addresses)) return true
    const hasText = this.#isTextSure && this.#text === wanted.text
    return hasText && (!wanted.hasAddresses || addresses === undefined || this.#addresses === addresses)
  }

  /** Whether nothing is known or wanted of the hostname any more. */
  get isEmpty(): boolean {
    return this.wanted === undefined && this.isDone(undefined)
  }

  /**
   * Makes changes that are missing, each once: what succeeded before a failure is not made again. A value is removed in
   * one call, and its successor comes in the next, so that the caller can note it before.
   * @param addresses of the relay; undefined while none is known
   * @throws DnsProviderError
   */
  async change(
    provider: DnsProvider,
    addresses: NameAddresses | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { wanted } = this
    if (this.#text !== undefined && this.#text !== wanted?.text) {
      this.#isTextSure = false
      await provider.removeTxt(this.hostname, this.#text, signal)
      this.#text = undefined
    } else if (wanted !== undefined && !this.#waitsForAddresses(addresses)) {
      // Before the text, since the wildcard does not cover a name that has one.
      if (wanted.hasAddresses && addresses !== undefined)
        await this.#setAddresses(provider, addresses, signal)
      await this.#addText(provider, wanted.text, signal)
    }
    if (wanted === undefined && this.#addresses !== undefined)
      await this.#setAddresses(provider, undefined, signal)
  }

  /** A hostname that leads to the relay by a wildcard alone gets no text while there are no addresses to put beside it. */
  #waitsForAddresses(addresses: NameAddresses | undefined): boolean {
    return this.wanted?.hasAddresses === true && addresses === undefined && this.#addresses === undefined
  }

  async #addText(provider: DnsProvider, text: string, signal: AbortSignal): Promise<void> {
    if (this.#isTextSure) return
    this.#text = text
    await provider.addTxt(this.hostname, text, signal, 'taken')
    this.#isTextSure = true
  }

  /** @param addresses undefined: removes them */
  async #setAddresses(
    provider: DnsProvider,
    addresses: NameAddresses | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#addresses === addresses) return
    this.#addresses = 'unknown'
    await provider.setAddresses(this.hostname, addresses ?? NO_ADDRESSES, signal)
    this.#addresses = addresses
  }
}

const NO_ADDRESSES: NameAddresses = { ipv4: [], ipv6: [] }
