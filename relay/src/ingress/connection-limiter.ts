// Who may come in: a bound on all connections, on those that say nothing and on those of one source, and nobody new while
// the relay cannot keep up with those who are here.

import type { Socket } from 'node:net'
import { networkOf } from '../client-address/ip-address.ts'
import {
  CONNECTIONS_PER_NETWORK_MAX,
  SILENT_CONNECTIONS_MAX,
  SILENT_CONNECTIONS_PER_NETWORK_MAX,
} from '../limits.ts'

/** Why a connection was turned away. */
export type Refusal =
  /** As many as there may be are open. */
  | 'full'
  /** The same for the connections of one source, … */
  | 'network'
  /** … or for those that said nothing yet: the oldest one went, to make room. */
  | 'silent'
  /** The relay has too much to do. */
  | 'overload'

export interface ConnectionLimiterOptions {
  isOverloaded(): boolean
  /** Told of each connection that was turned away. */
  onRefuse(reason: Refusal): void
  max?: { perNetwork: number; silent: number; silentPerNetwork: number }
}

const MAX = {
  perNetwork: CONNECTIONS_PER_NETWORK_MAX,
  silent: SILENT_CONNECTIONS_MAX,
  silentPerNetwork: SILENT_CONNECTIONS_PER_NETWORK_MAX,
}

/** Connections of one source. */
interface Count {
  open: number
  silent: number
}

export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions
  readonly #max: typeof MAX
  /** By network; only of those that have a connection here. */
  readonly #counts = new Map<string, Count>()
  /** Those that said nothing yet, the oldest first, each with the count of its source. */
  readonly #silent = new Map<Socket, Count | undefined>()

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options
    this.#max = options.max ?? MAX
  }

  get silent(): number {
    return this.#silent.size
  }

  /**
   * Takes a new connection in as one that said nothing yet, or resets it.
   * @param source normalized address; undefined for one that stands for many clients and is trusted
   */
  admit(socket: Socket, clientIp: string | undefined): boolean {
    const network = clientIp === undefined ? undefined : networkOf(clientIp)
    const count = network === undefined ? undefined : (this.#counts.get(network) ?? { open: 0, silent: 0 })
    if (this.#options.isOverloaded()) return this.#refuse(socket, 'overload')
    if (count && (count.open >= this.#max.perNetwork || count.silent >= this.#max.silentPerNetwork))
      return this.#refuse(socket, 'network')
    const [oldest] = this.#silent.size >= this.#max.silent ? this.#silent.keys() : []
    if (oldest) {
      this.onClientHello(oldest)
      this.#refuse(oldest, 'silent')
    }
    if (network !== undefined && count) this.#count(socket, network, count)
    this.#silent.set(socket, count)
    socket.once('close', () => this.onClientHello(socket))
    return true
  }

  /** The connection has said whom it wants. */
  onClientHello(socket: Socket): void {
    const count = this.#silent.get(socket)
    if (count) count.silent -= 1
    this.#silent.delete(socket)
  }

  #count(socket: Socket, network: string, count: Count): void {
    count.open += 1
    count.silent += 1
    this.#counts.set(network, count)
    socket.once('close', () => {
      count.open -= 1
      if (count.open === 0) this.#counts.delete(network)
    })
  }

  #refuse(socket: Socket, reason: Refusal): false {
    socket.resetAndDestroy()
    this.#options.onRefuse(reason)
    return false
  }
}
