// Limits how many connections each network may have, and how many may be silent, and refuses new ones under overload.

import type { Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { networkOf } from '../client-address/ip-address.ts'
import type { Refusal } from '../metrics/labels.ts'
import { NetworkCounts } from '../rate-limit/fair-share.ts'

/** Public and API connections that may be open at once. */
export const CONNECTIONS_MAX = 16_384
/** Connections that may be open from one network. */
const CONNECTIONS_PER_NETWORK_MAX = 4096
/** Connections that have not sent a complete ClientHello. With one more, the relay closes the oldest of them. */
const SILENT_CONNECTIONS_MAX = 4096
/** The same from one network. The relay closes the newcomer. */
const SILENT_CONNECTIONS_PER_NETWORK_MAX = 1024

export interface ConnectionLimiterOptions {
  isOverloaded(): boolean
  /** Called with the reason for each refused connection. */
  onRefuse(reason: Refusal): void
  max?: { all: number; perNetwork: number; silent: number; silentPerNetwork: number }
}

const MAX = {
  all: CONNECTIONS_MAX,
  perNetwork: CONNECTIONS_PER_NETWORK_MAX,
  silent: SILENT_CONNECTIONS_MAX,
  silentPerNetwork: SILENT_CONNECTIONS_PER_NETWORK_MAX,
}

export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions
  #max: typeof MAX
  readonly #open = new NetworkCounts()
  readonly #openSilent = new NetworkCounts()
  #all = 0
  /** Connections without a complete ClientHello, the oldest first, each with its network. */
  readonly #silent = new Map<Socket, string | undefined>()

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options
    this.#max = options.max ?? MAX
  }

  /** Sets the connections that may be open at once. */
  bound(all: number): void {
    this.#max = { ...this.#max, all }
  }

  get silent(): number {
    return this.#silent.size
  }

  /**
   * Admits a new connection as a silent one, or resets it.
   * @param clientIp normalized address; undefined for a trusted proxy, which stands for many clients
   * @returns whether the connection was admitted
   */
  admit(socket: Socket, clientIp: string | undefined): boolean {
    const network = clientIp === undefined ? undefined : networkOf(clientIp)
    if (this.#options.isOverloaded()) return this.#refuse(socket, 'overload')
    if (network !== undefined && !this.#mayHave(network)) return this.#refuse(socket, 'network')
    const [oldest] = this.#silent.size >= this.#max.silent ? this.#silent.keys() : []
    if (oldest) {
      this.onClientHello(oldest)
      this.#refuse(oldest, 'silent')
    }
    this.#count(network, 1)
    if (network !== undefined) this.#openSilent.add(network, 1)
    this.#silent.set(socket, network)
    socket.once('close', () => {
      this.onClientHello(socket)
      this.#count(network, -1)
    })
    return true
  }

  /** Stops counting the connection as silent. */
  onClientHello(socket: Socket): void {
    const network = this.#silent.get(socket)
    if (network !== undefined) this.#openSilent.add(network, -1)
    this.#silent.delete(socket)
  }

  /** Closes the oldest silent connection when there are too many. */
  #mayHave(network: string): boolean {
    const { all, perNetwork, silent, silentPerNetwork } = this.#max
    return (
      this.#open.of(network) < perNetwork &&
      this.#open.mayHave(1, network, all - this.#all, all) &&
      this.#openSilent.of(network) < silentPerNetwork &&
      this.#openSilent.mayHave(1, network, Math.max(1, silent - this.#silent.size), silent)
    )
  }

  #count(network: string | undefined, change: 1 | -1): void {
    this.#all += change
    if (network !== undefined) this.#open.add(network, change)
  }

  #refuse(socket: Socket, reason: Refusal): false {
    resetSocket(socket)
    this.#options.onRefuse(reason)
    return false
  }
}
