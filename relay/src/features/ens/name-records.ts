// Tracks which records one hostname has and should have, and makes the missing changes step by step.

import type { DnsProvider, NameAddresses } from '../dns/provider.ts'

/** The wanted records of a hostname. */
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
  /** The value that it has, or may have after an interrupted change. */
  #text: string | undefined
  #isTextSure = false
  /** The addresses that it has; `unknown` after an interrupted change. */
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
   * Makes the missing changes; those that succeeded before a failure are not repeated. One call removes a value, and
   * the next one adds its successor, so that the caller can write that to the file first.
   * @param addresses the relay's; undefined while none is known
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
      // Before the text, since the wildcard no longer covers a name with a text.
      if (wanted.hasAddresses && addresses !== undefined)
        await this.#setAddresses(provider, addresses, signal)
      await this.#addText(provider, wanted.text, signal)
    }
    if (wanted === undefined && this.#addresses !== undefined)
      await this.#setAddresses(provider, undefined, signal)
  }

  /** A hostname that reaches the relay only through a wildcard gets no text until its addresses are known. */
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
