// What the sites of this process share when they reach their relays: kept connections, the authorities, TLS sessions.

import { Agent, type AgentOptions } from 'node:https'
import { createSecureContext, type SecureContext } from 'node:tls'
import { ADDRESS_DEADLINE_MS, AUTHORITIES_MAX, RELAY_CONNECTIONS_MAX } from '../limits.ts'
import { localhostLookup } from './localhost-lookup.ts'
import { RelayFetch } from './relay-fetch.ts'

export class RelayTransport {
  readonly fetch: RelayFetch = new RelayFetch(
    () => new Agent({ ...this.connect, keepAlive: true, maxSockets: RELAY_CONNECTIONS_MAX }),
  )
  readonly #ca: string | Buffer | undefined
  #context: SecureContext | undefined
  #webSockets: Agent | undefined

  /** @param ca PEM; the system's authorities when it is undefined */
  constructor(ca: string | Buffer | undefined) {
    this.#ca = ca
  }

  /** Options of TLS connections to a relay. Reading the authorities takes longer than a resumed handshake. */
  get connect(): AgentOptions & { secureContext: SecureContext } {
    this.#context ??= createSecureContext({ ca: this.#ca })
    return {
      secureContext: this.#context,
      lookup: localhostLookup,
      autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
    }
  }

  /** Opens a connection for each WebSocket, which resumes the TLS session of an earlier one. */
  get webSockets(): Agent {
    this.#webSockets ??= new Agent(this.connect)
    return this.#webSockets
  }
}

const transports = new Map<string, RelayTransport>()

/** The transport of all sites of this process that trust the same authority. */
export function relayTransport(ca: string | Buffer | undefined): RelayTransport {
  const key = ca === undefined ? '' : ca.toString()
  const known = transports.get(key)
  if (known) return known
  const transport = new RelayTransport(ca)
  transports.set(key, transport)
  // Sites that have the one that makes room keep it.
  if (transports.size > AUTHORITIES_MAX) transports.delete(transports.keys().next().value!)
  return transport
}
