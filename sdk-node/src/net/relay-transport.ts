// What the sites of this process share for their relays: pooled connections, CAs, TLS sessions.

import { Agent, type AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext, type SecureContext } from 'node:tls'
import { hostPort } from '@svc/node-kit/host-port'
import { Semaphore } from '@svc/node-kit/semaphore'
import { ADDRESS_DEADLINE_MS } from './deadlines.ts'
import { openThrough, type ProxyFor, proxyChoice } from './forward-proxy.ts'
import { localhostLookup } from './localhost-lookup.ts'
import { RelayFetch } from './relay-fetch.ts'

/**
 * The most concurrent connections to one relay's control plane, for all sites of the process: beyond that, signatures for many
 * visitors queue.
 */
export const RELAY_CONNECTIONS_MAX = 64
/** The most sets of CA and proxy for which a process shares connections and TLS sessions: it has one, rarely a few. */
export const AUTHORITIES_MAX = 16

export class RelayTransport {
  readonly fetch: RelayFetch
  readonly #ca: string | Buffer | undefined
  readonly #proxyFor: ProxyFor
  #context: SecureContext | undefined
  #webSockets: Agent | undefined

  /**
   * @param ca PEM; undefined for the system's CAs
   * @param proxyFor the proxy of each connection
   */
  constructor(ca: string | Buffer | undefined, proxyFor: ProxyFor = () => undefined) {
    this.#ca = ca
    this.#proxyFor = proxyFor
    const agent = (): Agent =>
      new RelayAgent({ ...this.connect, keepAlive: true, maxSockets: RELAY_CONNECTIONS_MAX }, proxyFor)
    // An agent counts a connection through a proxy only once established, so it would open any number at once.
    this.fetch = new RelayFetch(agent, new Semaphore(RELAY_CONNECTIONS_MAX))
  }

  /** Options of TLS connections to a relay. They are cached, because loading the CAs takes longer than a resumed handshake. */
  get connect(): AgentOptions & { secureContext: SecureContext; proxyFor: ProxyFor } {
    this.#context ??= createSecureContext({ ca: this.#ca })
    return {
      secureContext: this.#context,
      lookup: localhostLookup,
      proxyFor: this.#proxyFor,
      autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
    }
  }

  /** Opens a connection for each WebSocket, which resumes the TLS session of an earlier one. */
  get webSockets(): Agent {
    this.#webSockets ??= new RelayAgent(this.connect, this.#proxyFor)
    return this.#webSockets
  }
}

const transports = new Map<string, RelayTransport>()

/**
 * Returns the transport of all sites of this process with the same CA and proxy.
 * @param proxy the option; undefined for the environment's
 * @throws SvcError `invalid_option`
 */
export function relayTransport(ca: string | Buffer | undefined, proxy?: string | URL): RelayTransport {
  const key = JSON.stringify([ca?.toString(), proxy])
  const known = transports.get(key)
  if (known) return known
  const transport = new RelayTransport(ca, proxyChoice(proxy))
  transports.set(key, transport)
  // Sites that use the dropped one keep it.
  if (transports.size > AUTHORITIES_MAX) transports.delete(transports.keys().next().value!)
  return transport
}

/** Connects to relays, through a proxy if there is one. */
class RelayAgent extends Agent {
  readonly #proxyFor: ProxyFor

  constructor(options: AgentOptions, proxyFor: ProxyFor) {
    super(options)
    this.#proxyFor = proxyFor
  }

  override createConnection(
    options: AgentOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const host = options.host ?? ''
    const url = new URL(`https://${hostPort(host, options.port ?? 443)}`)
    const proxy = this.#proxyFor(url)
    if (proxy === undefined) return super.createConnection(options, callback)
    openThrough(proxy, url).then(
      ({ socket }) =>
        callback?.(null, super.createConnection({ ...options, socket } as AgentOptions) as Duplex),
      (error) => callback?.(error, undefined as unknown as Duplex),
    )
    return undefined
  }
}
