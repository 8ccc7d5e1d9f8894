// The relays of a route, from the one that the site connects to: a connection to each goes through those before it, with TLS to each
// inside the TLS to the one before. So each relay sees only its neighbours' addresses.

import type { IncomingMessage } from 'node:http'
import { Agent, type AgentOptions } from 'node:https'
import { isIP, connect as open, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import { request } from '@svc/node-kit/http-module'
import { Semaphore } from '@svc/node-kit/semaphore'
import { HEADER, NEIGHBOUR_UPGRADE, PATH } from '@svc/protocol'
import { asSvcError, RelayClient, SvcError } from '@svc/sdk-core'
import { refusalOf } from '../carrier/dial.ts'
import { LEASE_UNKNOWN } from '../carrier/refusals.ts'
import { ADDRESS_DEADLINE_MS, DIAL_DEADLINE_MS } from '../net/deadlines.ts'
import { openThrough, type ProxyFor } from '../net/forward-proxy.ts'
import { RelayFetch } from '../net/relay-fetch.ts'
import { RELAY_CONNECTIONS_MAX } from '../net/relay-transport.ts'

/**
 * The most concurrent connections to the control plane of a further relay of a route. The relay that the site connects to forwards 16 connections for a lease: this many
 * to each of three relays, and one for the self-probe.
 */
const ROUTE_CONNECTIONS_MAX = 5

/** One relay of a line. */
interface LineRelay {
  readonly url: URL
  readonly fetch: RelayFetch
  readonly client: RelayClient
}

interface LineOptions {
  /** Origins, from the relay that the site connects to. */
  relays: readonly URL[]
  /** Returns a CA, a DNS lookup and a proxy for each connection. */
  tls(): AgentOptions & { proxyFor?: ProxyFor }
  /**
   * Resolves with the lease token at the relay of that index.
   * @param trusting false when the relay did not know the lease of the previous token
   */
  token(index: number, trusting: boolean): Promise<string>
  /** Called when a connection to a relay of the line has ended. */
  ended(index: number): void
}

export class RelayLine {
  readonly relays: readonly LineRelay[]
  readonly #options: LineOptions

  constructor(options: LineOptions) {
    this.#options = options
    this.relays = options.relays.map((url, index) => {
      // An agent counts only established connections, so it would open any number at once.
      const semaphore = new Semaphore(index === 0 ? RELAY_CONNECTIONS_MAX : ROUTE_CONNECTIONS_MAX)
      const fetch = new RelayFetch(
        () => new LineAgent({ keepAlive: true }, () => this.connect(index)),
        semaphore,
      )
      return { url, fetch, client: new RelayClient(url, (address, init) => fetch.fetch(address, init)) }
    })
  }

  forgetConnections(): void {
    for (const { fetch } of this.relays) fetch.forgetConnections()
  }

  /** Closes all idle connections. */
  close(): void {
    for (const { fetch } of this.relays) fetch.close()
  }

  /**
   * Opens a TLS connection to a relay.
   * @throws SvcError
   */
  async connect(index: number): Promise<TLSSocket> {
    const { url } = this.relays[index]!
    const socket = await this.#secure(await this.open(index), url)
    socket.on('close', () => this.#options.ended(index))
    return socket
  }

  /**
   * Opens a connection to the public port of a relay: by TCP to the first, and to each other through the one before.
   * @throws SvcError
   */
  async open(index: number): Promise<Duplex> {
    const { url } = this.relays[index]!
    if (index === 0) return await this.#dial(url)
    const token = await this.#options.token(index - 1, true)
    try {
      return await this.#lead(index, token)
    } catch (error) {
      // The relay was restarted and forgot the lease.
      if (!(error instanceof SvcError && LEASE_UNKNOWN.has(error.code))) throw notOfTheSite(error, url)
    }
    const renewed = await this.#options.token(index - 1, false)
    return await this.#lead(index, renewed).catch((error) => {
      throw notOfTheSite(error, url)
    })
  }

  /** Opens a connection through the relay before. */
  async #lead(index: number, token: string): Promise<Duplex> {
    const socket = await this.connect(index - 1)
    try {
      await leadTo(socket, this.relays[index - 1]!.url, this.relays[index]!.url, token)
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  async #dial(url: URL): Promise<Socket> {
    const { hostname, port, host } = url
    const { lookup, proxyFor } = this.#options.tls()
    const proxy = proxyFor?.(url)
    if (proxy) return (await openThrough(proxy, url)).socket
    const socket = open({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 443),
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
      ...(lookup && { lookup }),
    })
    return await settled(socket, 'connect', host)
  }

  #secure(raw: Duplex, { hostname, host }: URL): Promise<TLSSocket> {
    const name = hostname.replace(/^\[|\]$/g, '')
    const { lookup: _lookup, proxyFor: _way, ...options } = this.#options.tls()
    raw.on('error', () => {})
    const socket = connect({
      ...options,
      socket: raw,
      // The name that the certificate must have, even if it is an address.
      host: name,
      ...(isIP(name) === 0 && { servername: name }),
      ALPNProtocols: ['http/1.1'],
    })
    socket.on('close', () => raw.destroy())
    return settled(socket, 'secureConnect', host)
  }
}

/** Converts a failure on the way to a relay, which says nothing about the lease at that relay. */
function notOfTheSite(cause: unknown, { host }: URL): SvcError {
  const { message, retryAfterMs } = asSvcError(cause, 'relay_unreachable', 'no connection')
  return new SvcError('relay_unreachable', `no route to ${host}: ${message}`, { cause, retryAfterMs })
}

/** Resolves with the socket when it is connected. @throws SvcError */
function settled<S extends Socket>(socket: S, event: string, host: string): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: Error): void => {
      clearTimeout(deadline)
      socket.destroy()
      reject(new SvcError('relay_unreachable', `no connection to ${host}`, { cause }))
    }
    const deadline = setTimeout(() => fail(new Error('no answer in time')), DIAL_DEADLINE_MS)
    socket.on('error', fail)
    socket.once('close', () => fail())
    socket.once(event, () => {
      clearTimeout(deadline)
      resolve(socket)
    })
  })
}

/** Asks the relay at the other end of `socket` to forward the connection to its neighbour. */
function leadTo(socket: TLSSocket, relay: URL, neighbour: URL, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({
      createConnection: () => socket,
      path: PATH.neighbour,
      headers: {
        Host: relay.host,
        Connection: 'Upgrade',
        Upgrade: NEIGHBOUR_UPGRADE,
        [HEADER.accessToken]: token,
        [HEADER.neighbour]: neighbour.origin,
      },
    })
    asked.setTimeout(DIAL_DEADLINE_MS, () => asked.destroy(new Error('no answer in time')))
    asked.on('error', reject)
    asked.on('upgrade', (_answer: IncomingMessage, _socket, head: Buffer) => {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      resolve()
    })
    asked.on('response', (answer) => refusalOf(PATH.neighbour, answer).then(reject, reject))
    asked.end()
  })
}

/** An agent whose connections are opened by its caller. */
class LineAgent extends Agent {
  readonly #open: () => Promise<Duplex>

  constructor(options: AgentOptions, open: () => Promise<Duplex>) {
    super(options)
    this.#open = open
  }

  override createConnection(
    _options: object,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    this.#open().then(
      (socket) => callback?.(null, socket),
      (error) => callback?.(error, undefined as unknown as Duplex),
    )
    return undefined
  }
}
