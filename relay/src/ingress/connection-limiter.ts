// Limits how many connections each network may have, and how many may be silent, and refuses new ones under overload.

import type { Socket } from 'node:net'
import { networkOf } from '../client-address/ip-address.ts'
import {
  CONNECTIONS_PER_NETWORK_MAX,
  SILENT_CONNECTIONS_MAX,
  SILENT_CONNECTIONS_PER_NETWORK_MAX,
} from '../limits.ts'
import type { Refusal } from '../metrics/labels.ts'
import { resetSocket } from '../node-internals/reset-socket.ts'

export interface ConnectionLimiterOptions {
  isOverloaded(): boolean
  /** Called with the reason for each refused connection. */
  onRefuse(reason: Refusal): void
  max?: { perNetwork: number; silent: number; silentPerNetwork: number }
}

const MAX = {
  perNetwork: CONNECTIONS_PER_NETWORK_MAX,
  silent: SILENT_CONNECTIONS_MAX,
  silentPerNetwork: SILENT_CONNECTIONS_PER_NETWORK_MAX,
}

/** Connections of one network. */
interface Count {
  open: number
  silent: number
}

export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions
  readonly #max: typeof MAX
  /** By network, for networks with an open connection. */
  readonly #counts = new Map<string, Count>()
  /** Connections without a complete ClientHello, the oldest first, each with the count of its network. */
  readonly #silent = new Map<Socket, Count | undefined>()

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options
    this.#max = options.max ?? MAX
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

  /** Counts the connection as silent no longer. */
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
    resetSocket(socket)
    this.#options.onRefuse(reason)
    return false
  }
}
