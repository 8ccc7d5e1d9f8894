// A DNS provider whose records are in memory, which can be told to fail, and remembers what it was asked.

import {
  type DnsProvider,
  DnsProviderError,
  type DnsProviderFault,
  type DnssecState,
  type NameAddresses,
} from '../../src/features/dns/provider.ts'

export class MemoryDnsProvider implements DnsProvider {
  readonly name: string
  /** Every change that was asked for, in order, also of those that failed. */
  readonly calls: string[] = []
  readonly texts = new Map<string, string[]>()
  readonly addresses = new Map<string, NameAddresses>()
  /** Until it resolves, name servers do not answer with new texts. */
  propagation: Promise<unknown> = Promise.resolve()
  state: DnssecState = { state: 'pending', dsRecord: '1 13 2 AB', message: 'publish it' }
  /** Returns the fault of a call; undefined: it succeeds. */
  faultOf: (call: string) => DnsProviderFault | undefined = () => undefined
  /** Changes wait for it. */
  gate: Promise<unknown> = Promise.resolve()
  /** Calls that are under way. */
  running = 0
  mostRunning = 0

  constructor(name = 'memory') {
    this.name = name
  }

  async canAnswer(): Promise<boolean> {
    await this.#called('canAnswer')
    return true
  }

  async addTxt(name: string, value: string, _signal?: AbortSignal, wait?: 'taken'): Promise<void> {
    await this.#called(`addTxt ${name} ${value}${wait === undefined ? '' : ` ${wait}`}`)
    const values = this.texts.get(name) ?? []
    this.texts.set(name, [...values.filter((one) => one !== value), value])
  }

  async waitForTxt(): Promise<void> {
    await this.propagation
  }

  async removeTxt(name: string, value: string): Promise<void> {
    await this.#called(`removeTxt ${name} ${value}`)
    const rest = (this.texts.get(name) ?? []).filter((one) => one !== value)
    if (rest.length > 0) this.texts.set(name, rest)
    else this.texts.delete(name)
  }

  async setAddresses(name: string, addresses: NameAddresses): Promise<void> {
    const { ipv4, ipv6 } = addresses
    await this.#called(`setAddresses ${[name, ...ipv4, ...ipv6].join(' ')}`)
    if (ipv4.length + ipv6.length > 0) this.addresses.set(name, addresses)
    else this.addresses.delete(name)
  }

  async dnssec(): Promise<DnssecState> {
    await this.#called('dnssec')
    return this.state
  }

  async close(): Promise<void> {}

  async #called(call: string): Promise<void> {
    this.calls.push(call)
    this.running++
    this.mostRunning = Math.max(this.mostRunning, this.running)
    try {
      await this.gate
      const fault = this.faultOf(call)
      if (fault !== undefined) throw new DnsProviderError(fault, `${fault}: ${call}`)
    } finally {
      this.running--
    }
  }
}
