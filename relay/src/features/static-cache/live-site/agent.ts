// Keeps connections to live sites for the next request of the same client.

import {
  Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type RequestOptions,
  request as requestHttp,
} from 'node:http'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Lease } from '../../../core/lease/lease.ts'
import type { SiteClient, SiteConnector } from './connector.ts'
import { type SiteRequest, UnfitRequest } from './fields.ts'
import { LIVE_HEAD_MAX_BYTES, LIVE_IDLE_MS, LIVE_IDLE_PER_SITE_MAX } from './limits.ts'

/** A request to a site, as Node's client takes it. */
interface SiteRequestOptions extends RequestOptions {
  client: SiteClient
}

/**
 * A connection serves only one client: a site counts it for the network of that client, and a client that makes a site
 * misread where a request ends harms nobody else. The limits of requests also bound the open connections.
 */
export class SiteAgent extends Agent {
  readonly #connector: SiteConnector
  readonly #idleMax: number
  readonly #closing: AbortSignal
  /** Idle connections, with their leases. */
  readonly #idle = new Map<Duplex, Lease>()
  readonly #leases = new WeakMap<Duplex, Lease>()
  /** Leases whose end the agent listens for. */
  readonly #watched = new WeakSet<Lease>()

  /**
   * @param idleMax idle connections to all sites at once
   * @param closing aborted as soon as the relay begins to close: idle connections would count as visitors then
   */
  constructor(connector: SiteConnector, idleMax: number, closing: AbortSignal) {
    super({ keepAlive: true, maxFreeSockets: LIVE_IDLE_PER_SITE_MAX, scheduling: 'lifo' })
    this.#connector = connector
    this.#idleMax = idleMax
    this.#closing = closing
    closing.addEventListener('abort', () => this.#closeIdle(), { once: true })
  }

  /**
   * Begins a request, whose body the caller sends. Its errors are a `SiteAway`, a `SiteUntrusted`, or those of the
   * connection.
   * @param more further header fields, of this connection only
   * @throws UnfitRequest for a request that Node refuses to write
   */
  request(
    client: SiteClient,
    { method, path, fields }: SiteRequest,
    more: readonly string[] = [],
  ): ClientRequest {
    const options: SiteRequestOptions = {
      agent: this,
      client,
      method,
      path,
      headers: [...fields, ...more],
      setHost: false,
      maxHeaderSize: LIVE_HEAD_MAX_BYTES,
    }
    const upstream = begin(options)
    // The bytes of the response's fields are bounded, and no field may get lost.
    upstream.maxHeadersCount = 0
    return upstream
  }

  /** Closes the idle connections of a client. */
  drop(client: SiteClient): void {
    for (const socket of this.freeSockets[nameOf(client)] ?? []) socket.destroy()
  }

  override getName(options?: RequestOptions): string {
    return nameOf((options as SiteRequestOptions).client)
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { client } = options as SiteRequestOptions
    this.#connector.connect(client).then(
      (socket) => {
        this.#leases.set(socket, client.lease)
        socket.once('close', () => this.#idle.delete(socket))
        this.#watch(client.lease)
        callback?.(null, socket)
      },
      (error) => (callback as (error: Error) => void)(error),
    )
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const lease = this.#leases.get(socket)
    if (lease === undefined || lease.ended.aborted || this.#closing.aborted) return false
    if (!this.#hasRoom(lease)) return false
    // Node's own method honours the site's `Keep-Alive` (RFC 9112 §9.3), which may be shorter.
    super.keepSocketAlive(socket)
    const idle = socket as TLSSocket
    idle.setTimeout(Math.min(idle.timeout || LIVE_IDLE_MS, LIVE_IDLE_MS))
    this.#idle.set(idle, lease)
    // A site that sends something now answers no request.
    idle.once('data', destroy)
    return true
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    this.#idle.delete(socket)
    socket.off('data', destroy)
    ;(socket as TLSSocket).setTimeout(0)
    super.reuseSocket(socket, request)
  }

  #hasRoom(lease: Lease): boolean {
    if (this.#idle.size >= this.#idleMax) return false
    let ofSite = 0
    for (const other of this.#idle.values()) if (other === lease) ofSite += 1
    return ofSite < LIVE_IDLE_PER_SITE_MAX
  }

  #watch(lease: Lease): void {
    if (this.#watched.has(lease)) return
    this.#watched.add(lease)
    lease.ended.addEventListener('abort', () => this.#closeIdle(lease), { once: true })
  }

  /** @param of the lease whose connections it closes; all by default */
  #closeIdle(of?: Lease): void {
    for (const [socket, lease] of this.#idle) if (of === undefined || lease === of) socket.destroy()
  }
}

function begin(options: SiteRequestOptions): ClientRequest {
  try {
    return requestHttp(options)
  } catch {
    throw new UnfitRequest(400, 'The request is malformed.')
  }
}

function nameOf({ lease, clientIp }: SiteClient): string {
  return `${lease.id} ${clientIp ?? ''}`
}

function destroy(this: Duplex): void {
  this.destroy()
}
