// Keeps the address records of the root host and of its wildcard equal to the relay's public addresses.

import { pause } from '@svc/protocol/timers'
import type { Logger } from '../../core/log/log.ts'
import type { DnsProvider } from './provider.ts'
import { ProviderBackoff } from './provider-backoff.ts'
import type { PublicAddresses, PublicAddressWatcher } from './public-address/public-address-watcher.ts'

interface AddressRecordsParts {
  provider: DnsProvider
  rootHost: string
  addresses: Pick<PublicAddressWatcher, 'watch'>
  log: Logger
  /** Milliseconds after the first failure. */
  firstPauseMs?: number
}

/**
 * AddressRecords follows the public addresses until it is closed. A change that fails is tried again with growing pauses.
 * While no address is known, the records stay as they are.
 */
export class AddressRecords {
  readonly #parts: AddressRecordsParts
  readonly #names: readonly string[]
  readonly #closing = new AbortController()
  readonly #leave: () => void
  readonly #pause: ProviderBackoff
  /** The addresses that this process set for each name. */
  readonly #made = new Map<string, PublicAddresses>()
  #wanted: PublicAddresses | undefined
  #running: Promise<void> | undefined
  /** The message of the last failure; undefined once all changes succeeded. */
  #problem: string | undefined

  constructor(parts: AddressRecordsParts) {
    this.#parts = parts
    this.#names = [parts.rootHost, `*.${parts.rootHost}`]
    this.#pause = new ProviderBackoff(parts.firstPauseMs)
    this.#leave = parts.addresses.watch((found) => {
      if (found.ipv4.length + found.ipv6.length === 0) return
      this.#wanted = found
      this.#running ??= this.#follow().finally(() => {
        this.#running = undefined
      })
    })
  }

  async close(): Promise<void> {
    this.#leave()
    this.#closing.abort()
    await this.#running
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted && this.#stale().length > 0) {
      try {
        for (const name of this.#stale()) await this.#make(name)
        this.#succeeded()
      } catch (error) {
        if (signal.aborted) return
        this.#failed(error as Error)
        await pause(this.#pause.after(error), signal)
      }
    }
  }

  #stale(): string[] {
    return this.#names.filter((name) => this.#made.get(name) !== this.#wanted)
  }

  async #make(name: string): Promise<void> {
    const wanted = this.#wanted as PublicAddresses
    await this.#parts.provider.setAddresses(name, wanted, this.#closing.signal)
    this.#made.set(name, wanted)
  }

  #succeeded(): void {
    this.#problem = undefined
    this.#pause.reset()
    this.#parts.log.info({ names: this.#names, ...this.#wanted }, 'the address records are in sync')
  }

  /** Logs each new reason only once, however often it repeats. */
  #failed({ message }: Error): void {
    if (message !== this.#problem)
      this.#parts.log.warn(
        { reason: message },
        'the address records are not in sync; the relay tries again with growing pauses',
      )
    this.#problem = message
  }
}
