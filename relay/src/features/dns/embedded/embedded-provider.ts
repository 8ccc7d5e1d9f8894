// The DNS provider that changes the zone of the relay's own name server. It keeps the zone's records, since the server
// loses them when its thread dies.

import { isDeepStrictEqual } from 'node:util'
import { ADDRESS_TTL_S, addressData, caaData, STEADY_TTL_S, TYPE, textData, type ZoneChange } from '@svc/dns'
import { type DnsProvider, DnsProviderError, type DnssecState, type NameAddresses } from '../provider.ts'
import { isDelegatedHere } from './delegation.ts'

interface EmbeddedParts {
  rootHost: string
  dnssec: DnssecState
  /**
   * Resolvers for checking whether the public DNS leads here, with or without ports; those of the system by default.
   */
  resolvers?: readonly string[] | undefined
}

/** The part of the name server that takes changes. */
interface Server {
  /** Resolves when the server answers with the changes. Rejects when it refuses one of them. */
  apply(changes: Iterable<ZoneChange>): Promise<void>
  close(): Promise<void>
}

const NO_ADDRESSES: NameAddresses = { ipv4: [], ipv6: [] }

export class EmbeddedProvider implements DnsProvider {
  readonly name = 'embedded'
  readonly #parts: EmbeddedParts
  readonly #texts = new Map<string, readonly string[]>()
  readonly #addresses = new Map<string, NameAddresses>()
  /** The domains of CAA records. */
  readonly #issuers = new Map<string, readonly string[]>()
  #server: Server | undefined

  constructor(parts: EmbeddedParts) {
    this.#parts = parts
  }

  /** Sets the server, which was started with {@link records}. */
  attach(server: Server): void {
    this.#server = server
  }

  /** Yields every record as a change to an empty zone. */
  *records(): Generator<ZoneChange> {
    for (const [name, issuers] of this.#issuers) yield issuerChange(name, issuers)
    for (const [name, addresses] of this.#addresses) yield* addressChanges(name, addresses)
    for (const [name, values] of this.#texts) yield textChange(name, values)
  }

  /**
   * Sets which authorities may issue certificates for the root host and all names below it.
   * @param issuers domains of the authorities (RFC 8659 §4.2); none: every authority may
   */
  async setIssuers(issuers: readonly string[]): Promise<void> {
    const { rootHost } = this.#parts
    const before = this.#issuers.get(rootHost) ?? []
    if (isDeepStrictEqual(before, issuers)) return
    const changesOf = (name: string, domains: readonly string[] = []): ZoneChange[] => [
      issuerChange(name, domains),
    ]
    await this.#change(this.#issuers, rootHost, issuers.length > 0 ? issuers : undefined, changesOf)
  }

  async canAnswer(signal?: AbortSignal, tell?: (reason: string) => void): Promise<boolean> {
    const { rootHost, resolvers } = this.#parts
    const isDelegated = await isDelegatedHere(this, rootHost, { signal, resolvers })
    if (!isDelegated) tell?.(`the public DNS does not delegate ${rootHost} to this relay's name server`)
    return isDelegated
  }

  async addTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    this.#require(name, signal)
    const values = this.#texts.get(name) ?? []
    if (!values.includes(value)) await this.#setTexts(name, [...values, value])
  }

  async removeTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    this.#require(name, signal)
    const values = this.#texts.get(name) ?? []
    const rest = values.filter((one) => one !== value)
    if (rest.length < values.length) await this.#setTexts(name, rest)
  }

  async setAddresses(name: string, addresses: NameAddresses, signal?: AbortSignal): Promise<void> {
    this.#require(name, signal)
    const hasAny = addresses.ipv4.length + addresses.ipv6.length > 0
    await this.#change(this.#addresses, name, hasAny ? addresses : undefined, addressChanges)
  }

  /** The state stays `pending` even when the parent zone has the DS record, since only that zone knows. */
  async dnssec(): Promise<DnssecState> {
    return this.#parts.dnssec
  }

  async close(): Promise<void> {
    await this.#server?.close()
  }

  async #setTexts(name: string, values: readonly string[]): Promise<void> {
    const changesOf = (of: string, texts: readonly string[] = []): ZoneChange[] => [textChange(of, texts)]
    await this.#change(this.#texts, name, values.length > 0 ? values : undefined, changesOf)
  }

  /**
   * Changes the records of this provider and of the server. A change that the server refuses is undone in both.
   */
  async #change<Value>(
    kept: Map<string, Value>,
    name: string,
    value: Value | undefined,
    changesOf: (name: string, value: Value | undefined) => ZoneChange[],
  ): Promise<void> {
    const changes = changesOf(name, value)
    const before = kept.get(name)
    put(kept, name, value)
    try {
      await this.#server?.apply(changes)
    } catch (cause) {
      if (kept.get(name) === value) {
        put(kept, name, before)
        // The server may have applied a part. There is no need to wait, since it applies changes in order.
        this.#server?.apply(changesOf(name, before)).catch(() => {})
      }
      const reason = (cause as Error).message
      throw new DnsProviderError('unavailable', `the relay's name server did not take a change: ${reason}`, {
        cause,
      })
    }
  }

  #require(name: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted()
    const { rootHost } = this.#parts
    if (name !== rootHost && !name.endsWith(`.${rootHost}`))
      throw new DnsProviderError('wrong_zone', `${name} is not in the zone of ${rootHost}`)
  }
}

function put<Value>(kept: Map<string, Value>, name: string, value: Value | undefined): void {
  if (value === undefined) kept.delete(name)
  else kept.set(name, value)
}

function addressChanges(name: string, { ipv4, ipv6 }: NameAddresses = NO_ADDRESSES): ZoneChange[] {
  return [
    changeOf(name, TYPE.A, ADDRESS_TTL_S, ipv4.map(addressData)),
    changeOf(name, TYPE.AAAA, ADDRESS_TTL_S, ipv6.map(addressData)),
  ]
}

/** With the short TTL of addresses, since an ACME authority asks for a record right after its change. */
function textChange(name: string, values: readonly string[]): ZoneChange {
  return changeOf(name, TYPE.TXT, ADDRESS_TTL_S, values.map(textData))
}

function issuerChange(name: string, issuers: readonly string[]): ZoneChange {
  const data = issuers.map((issuer) => caaData('issue', issuer))
  return changeOf(name, TYPE.CAA, STEADY_TTL_S, data)
}

function changeOf(name: string, type: number, ttl: number, data: Buffer[]): ZoneChange {
  return data.length > 0 ? { kind: 'set', name, type, ttl, data } : { kind: 'remove', name, type }
}
