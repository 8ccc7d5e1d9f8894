// Watches the addresses at which visitors reach the relay, for the parts that publish them: DNS, descriptors, ACME.

import { promises as dns } from 'node:dns'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { isPublicAddress } from '@svc/protocol'
import { isNobodysName } from '../../../core/config/setting-values.ts'
import type { Settings } from '../../../core/config/settings.ts'
import type { Logger } from '../../../core/log/log.ts'
import type { ConfiguredAddresses } from '../settings.ts'
import { sourceAddress } from './source-address.ts'

/** Interval at which the relay determines its public addresses, so that its records follow a change within a minute. */
const PUBLIC_ADDRESS_REFRESH_MS = 30_000
/** Addresses of each family that the relay publishes: each is a record of the host and of each ENS name. */
const PUBLIC_ADDRESSES_MAX = 4

/** Each list is sorted, and empty when the relay has no such address. */
export interface PublicAddresses {
  ipv4: readonly string[]
  ipv6: readonly string[]
}

type Listener = (addresses: PublicAddresses) => void
type Family = keyof PublicAddresses

/** The sources of addresses when the operator names none. */
export interface AddressSources {
  interfaces(): NodeJS.Dict<NetworkInterfaceInfo[]>
  /** The address that this machine uses for the internet; undefined without a route. */
  source(family: Family): Promise<string | undefined>
  /** Resolves a name by DNS. @throws Error with code `ENODATA` or `ENOTFOUND` when the name has no such addresses */
  resolve(host: string, family: Family): Promise<string[]>
}

const SYSTEM: AddressSources = {
  interfaces: networkInterfaces,
  source: sourceAddress,
  resolve: (host, family) => (family === 'ipv4' ? dns.resolve4(host) : dns.resolve6(host)),
}

/**
 * A PublicAddressWatcher determines the relay's public addresses while it has listeners. For each family it uses the
 * addresses in the settings; without these, the public ones of this machine's interfaces; without these, those to which
 * the root host resolves, unless the relay itself answers for that host. Of found addresses it uses at most
 * `PUBLIC_ADDRESSES_MAX`.
 */
export class PublicAddressWatcher {
  readonly #configured: ConfiguredAddresses
  /** The host to resolve when no other address is known; undefined: none. */
  readonly #resolvedHost: string | undefined
  readonly #log: Logger
  readonly #sources: AddressSources
  readonly #listeners = new Set<Listener>()
  #found: PublicAddresses | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param answersItself whether this relay makes the root host's DNS records from these addresses */
  constructor(
    { publicAddresses, rootHost }: Pick<Settings, 'publicAddresses' | 'rootHost'>,
    log: Logger,
    { answersItself = false, sources = SYSTEM }: { answersItself?: boolean; sources?: AddressSources } = {},
  ) {
    this.#configured = publicAddresses
    this.#resolvedHost = answersItself || isNobodysName(rootHost) ? undefined : rootHost
    this.#log = log
    this.#sources = sources
  }

  /**
   * Calls `listener` with the addresses, never before this method has returned, and again after each change. The first
   * listener starts the watch, and the removal of the last one ends it.
   * @returns a function that removes the listener
   */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#start()
    else if (this.#found !== undefined) void this.#tell(listener, this.#found)
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#stop()
    }
  }

  #start(): void {
    void this.#refresh()
    const { ipv4, ipv6 } = this.#configured
    if (ipv4 === undefined || ipv6 === undefined)
      this.#timer = setInterval(() => void this.#refresh(), PUBLIC_ADDRESS_REFRESH_MS).unref()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#found = undefined
  }

  async #refresh(): Promise<void> {
    const found = { ipv4: await this.#find('ipv4'), ipv6: await this.#find('ipv6') }
    if (this.#listeners.size === 0 || isSame(found, this.#found)) return
    this.#found = found
    if (found.ipv4.length + found.ipv6.length > 0) this.#log.info(found, 'public addresses')
    else this.#log.warn('no public address of this relay is known: set PUBLIC_IPV4, PUBLIC_IPV6 or both')
    for (const listener of this.#listeners) void this.#tell(listener, found)
  }

  /** Waits for the caller to return, and skips a listener that was removed in the meantime. */
  async #tell(listener: Listener, addresses: PublicAddresses): Promise<void> {
    await undefined
    if (this.#listeners.has(listener)) listener(addresses)
  }

  async #find(family: Family): Promise<readonly string[]> {
    const configured = this.#configured[family]
    if (configured !== undefined) return [...configured].sort()
    const found = await this.#ownAddresses(family)
    const host = this.#resolvedHost
    return found.length > 0 || host === undefined ? found : await this.#resolve(host, family)
  }

  /**
   * The machine's source address comes first, then others of the same interface; those of other interfaces, such as
   * bridges, come last.
   */
  async #ownAddresses(family: Family): Promise<string[]> {
    const interfaces = Object.values(this.#sources.interfaces()).map((addresses) =>
      (addresses ?? []).filter((one) => one.family.toLowerCase() === family).map(({ address }) => address),
    )
    const source = await this.#sources.source(family)
    const first = interfaces.find((addresses) => source !== undefined && addresses.includes(source)) ?? []
    const inOrder = [...first.filter((address) => address === source), ...first, ...interfaces.flat()]
    return firstPublicOnes(inOrder)
  }

  /** A DNS failure changes nothing; only the answer that there are no addresses removes them. */
  async #resolve(host: string, family: Family): Promise<readonly string[]> {
    try {
      return firstPublicOnes(await this.#sources.resolve(host, family))
    } catch (error) {
      if (['ENODATA', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
      this.#log.warn({ err: error }, `${host} was not resolved`)
      return this.#found?.[family] ?? []
    }
  }
}

/** Sorted. */
function firstPublicOnes(addresses: readonly string[]): string[] {
  const found = [...new Set(addresses)].filter(isPublicAddress)
  return found.slice(0, PUBLIC_ADDRESSES_MAX).sort()
}

function isSame(a: PublicAddresses, b: PublicAddresses | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
