// Listens at the operator's addresses or at those of all interfaces, follows their changes, and retries
// failed binds. Each address has separate sockets, so that an answer comes from the queried address, and a
// resolver on a loopback address of this machine is no obstacle.

import { networkInterfaces } from 'node:os'
import { LISTENING_ADDRESSES_MAX, REBIND_INTERVAL_MS } from './limits.ts'
import type { Responder } from './responder.ts'
import { listenOverTcp, TcpConnections } from './tcp-listener.ts'
import { type Listener, listenOverUdp } from './udp-listener.ts'

/** The attempts for port 0, which tests use. */
const CHOSEN_PORT_ATTEMPTS = 10

/** Where to listen. */
export interface DnsAddress {
  /** An IP address; undefined for all addresses of this machine. */
  host: string | undefined
  port: number
}

/** Where the server listens, over UDP and TCP. */
export interface BoundAddress {
  host: string
  port: number
}

export interface ListenersOptions {
  addresses: readonly DnsAddress[]
  responder: Responder
  /** Called when an address is bound, and once with the error when it could not be bound. */
  onBound(address: BoundAddress): void
  onUnbound(address: BoundAddress, error: NodeJS.ErrnoException): void
  rebindMs?: number | undefined
}

/** The listeners of one address; undefined while it is not bound. */
interface Place {
  wanted: BoundAddress
  bound: { address: BoundAddress; udp: Listener; tcp: Listener } | undefined
  /** The code of the last reported error. */
  told: string | undefined
}

export class Listeners {
  readonly #options: ListenersOptions
  readonly #connections: TcpConnections
  readonly #places = new Map<string, Place>()
  readonly #rebind: NodeJS.Timeout
  /** The last bind: they run one after another. */
  #binding: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: ListenersOptions) {
    this.#options = options
    this.#connections = new TcpConnections(options.responder)
    this.#rebind = setInterval(() => void this.bind(), options.rebindMs ?? REBIND_INTERVAL_MS)
  }

  /** Binds the addresses, and resolves when each was tried. */
  bind(): Promise<void> {
    this.#binding = this.#binding.then(() => this.#bindAll())
    return this.#binding
  }

  get bound(): BoundAddress[] {
    return [...this.#places.values()].flatMap(({ bound }) => (bound ? [bound.address] : []))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#rebind)
    this.#connections.close()
    await this.#binding
    await Promise.all([...this.#places.values()].map((place) => unbind(place)))
  }

  async #bindAll(): Promise<void> {
    const wanted = new Map(
      wantedAddresses(this.#options.addresses).map((address) => [keyOf(address), address]),
    )
    for (const [key, place] of this.#places) {
      if (wanted.has(key)) continue
      this.#places.delete(key)
      await unbind(place)
    }
    for (const [key, address] of wanted) {
      if (this.#isClosed) return
      const place = this.#places.get(key) ?? { wanted: address, bound: undefined, told: undefined }
      this.#places.set(key, place)
      if (place.bound === undefined) await this.#bind(place)
    }
  }

  async #bind(place: Place): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#bindBoth(place)
        return
      } catch (error) {
        // The system chose a UDP port that is not free for TCP.
        if (place.wanted.port === 0 && attempt < CHOSEN_PORT_ATTEMPTS) continue
        return this.#tell(place, error as Error)
      }
    }
  }

  /** @throws the system's error; nothing is bound then */
  async #bindBoth(place: Place): Promise<void> {
    const { responder, onBound } = this.#options
    const { host } = place.wanted
    const onEnd = (error: Error): void => void unbind(place).then(() => this.#tell(place, error))
    const udp = await listenOverUdp({ ...place.wanted, responder, onEnd })
    try {
      const tcp = await listenOverTcp({ host, port: udp.port, onEnd }, this.#connections)
      place.bound = { address: { host, port: udp.port }, udp, tcp }
    } catch (error) {
      await udp.close()
      throw error
    }
    place.told = undefined
    onBound(place.bound.address)
  }

  #tell(place: Place, error: NodeJS.ErrnoException): void {
    const code = error.code ?? error.message
    if (place.told === code || this.#isClosed) return
    place.told = code
    this.#options.onUnbound(place.wanted, error)
  }
}

async function unbind(place: Place): Promise<void> {
  const { bound } = place
  place.bound = undefined
  await Promise.all([bound?.udp.close(), bound?.tcp.close()])
}

/** Skips link-local addresses (RFC 4291 §2.5.6), which no resolver uses. */
function wantedAddresses(addresses: readonly DnsAddress[]): BoundAddress[] {
  return addresses
    .flatMap(({ host, port }) =>
      (host === undefined ? interfaceAddresses() : [host]).map((one) => ({ host: one, port })),
    )
    .slice(0, LISTENING_ADDRESSES_MAX)
}

function interfaceAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.flatMap(({ address, scopeid }) => (scopeid ? [] : [address]))
}

function keyOf({ host, port }: BoundAddress): string {
  return `${host} ${port}`
}
