// Issues sites' certificates by an ACME authority, in the background: the site gets a time at which to ask again.
// Chains are kept for sites that come back, and failures until the next order is allowed.

import type {
  CertificateStatuses,
  SiteCertificateSummary,
} from '../../core/certificates/certificate-status.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import { now } from '../../core/clock.ts'
import { RelayError } from '../../core/errors.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { Logger } from '../../core/log/log.ts'
import { type AcmeAuthority, AcmeError } from '../acme/authority.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { ChainStore } from './chain-store.ts'
import { FairQueue } from './fair-queue.ts'
import {
  SITE_FAILURES_MAX,
  SITE_ORDER_ELSEWHERE_POLL_S,
  SITE_ORDER_POLL_MAX_S,
  SITE_ORDER_POLL_MIN_S,
  SITE_ORDER_POLL_SHARE,
  SITE_ORDER_RETRY_MAX_MS,
  SITE_ORDER_RETRY_MS,
  SITE_ORDERS_AT_ONCE,
  SITE_ORDERS_WAITING_MAX,
  SITE_ORDERS_WAITING_PER_NETWORK_MAX,
} from './limits.ts'
import type { Keep, OrdersElsewhere } from './orders-elsewhere.ts'
import type { SiteCertificateAnswer, SiteCertificateIssuer } from './site-certificate-issuer.ts'

interface AcmeIssuerParts {
  authority: AcmeAuthority
  /** The state directory. */
  directory: string
  /** URL of the authority's ACME directory. */
  acmeDirectory: string
  /** Whether the policy lets a lease have a certificate now. */
  mayHave(lease: Lease): boolean
  /** Called with each issued chain, even if the site no longer wants it. */
  issued(lease: Lease, names: readonly string[], chain: string): void
  /** Receives the outcome of orders. */
  statuses: Pick<CertificateStatuses, 'failed' | 'succeeded'>
  /** Creates the coordination with other machines for the same sites; undefined on a single machine. */
  elsewhere?: ((keep: Keep) => OrdersElsewhere) | undefined
  log: Logger
}

interface Order {
  request: CertificateRequest
  /** The lease that asked last. */
  lease: Lease
  /** Relay time. */
  readonly since: number
  readonly canceled: AbortController
  isRunning: boolean
}

interface Failure {
  error: AcmeError
  /** Relay time before which no new order is made. */
  until: number
}

export class AcmeIssuer implements SiteCertificateIssuer {
  readonly #parts: AcmeIssuerParts
  readonly #chains: ChainStore
  readonly #elsewhere: OrdersElsewhere | undefined
  /** Waiting and running orders, by identity key. */
  readonly #orders = new Map<string, Order>()
  /** Sites that have a certificate come first: a crowd of new sites has none. */
  readonly #renewals = new FairQueue<Order>(SITE_ORDERS_WAITING_PER_NETWORK_MAX, SITE_ORDERS_WAITING_MAX)
  readonly #firsts = new FairQueue<Order>(SITE_ORDERS_WAITING_PER_NETWORK_MAX, SITE_ORDERS_WAITING_MAX)
  readonly #running = new Set<Promise<void>>()
  /** By identity key, the oldest first. */
  readonly #failures = new Map<string, Failure>()
  #isClosed = false

  constructor(parts: AcmeIssuerParts) {
    this.#parts = parts
    this.#chains = new ChainStore(parts.directory, parts.acmeDirectory, parts.log)
    this.#elsewhere = parts.elsewhere?.((identityKey, chain) => this.#chains.put(identityKey, chain))
  }

  /** What the relay keeps for sites. */
  get summary(): SiteCertificateSummary {
    return this.#chains.summary
  }

  mayHave(lease: Lease): boolean {
    return this.#parts.mayHave(lease)
  }

  knows(identityKey: string): boolean {
    const isHere = this.#orders.has(identityKey) || this.#failures.has(identityKey)
    return isHere || this.#chains.has(identityKey) || this.#elsewhere?.has(identityKey) === true
  }

  async find(request: CertificateRequest, lease: Lease): Promise<SiteCertificateAnswer | undefined> {
    const { identityKey } = lease
    const chain = await this.#chains.find(identityKey, request)
    if (chain !== undefined) return { chain }
    const order = this.#orders.get(identityKey)
    if (order !== undefined) return askedAgain(order, request, lease)
    const found = await this.#elsewhere?.find(identityKey, request)
    if (found === 'pending') return { retryAfterS: SITE_ORDER_ELSEWHERE_POLL_S }
    if (found !== undefined) {
      await this.#chains.put(identityKey, found.chain)
      return found
    }
    this.#requireNoFailure(identityKey)
    return undefined
  }

  async issue(request: CertificateRequest, lease: Lease): Promise<SiteCertificateAnswer> {
    const { identityKey } = lease
    const underWay = this.#orders.get(identityKey)
    if (underWay !== undefined) return askedAgain(underWay, request, lease)
    const network = networkOf(lease.clientIp)
    const queue = this.#chains.has(identityKey) ? this.#renewals : this.#firsts
    this.#requireRoom(queue, network)
    const order = { request, lease, since: now(), canceled: new AbortController(), isRunning: false }
    this.#orders.set(identityKey, order)
    queue.push(network, order)
    this.#elsewhere?.begin(identityKey)
    this.#parts.log.info({ hostname: request.names[0] }, 'a site waits for a certificate of its own')
    this.#runNext()
    return pending(order)
  }

  async hasIssued({ identityKey }: Lease, leaf: Buffer): Promise<boolean> {
    if (await this.#chains.holds(identityKey, leaf)) return true
    return (await this.#elsewhere?.holds(identityKey, leaf)) === true
  }

  /** Records that a site is present, or that its lease has just ended. */
  seen({ identityKey }: Lease): void {
    this.#chains.seen(identityKey)
  }

  /** Cancels the orders of sites that may no longer have a certificate. */
  recheck(): void {
    for (const [identityKey, { lease }] of this.#orders)
      if (!this.#parts.mayHave(lease)) this.#cancel(identityKey)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const identityKey of this.#orders.keys()) this.#cancel(identityKey)
    await Promise.all(this.#running)
    await this.#chains.close()
  }

  /** @throws RelayError while the site must wait after a failed order */
  #requireNoFailure(identityKey: string): void {
    const failure = this.#failures.get(identityKey)
    if (failure === undefined) return
    const waitMs = failure.until - now()
    if (waitMs > 0) throw refusal(failure.error, waitMs)
    this.#failures.delete(identityKey)
  }

  /** @throws RelayError when too many sites wait, in total or of this network; this one must try again later */
  #requireRoom(queue: FairQueue<Order>, network: string): void {
    const isFull = (): boolean => !queue.hasRoom(network)
    if (isFull()) for (const gone of queue.purge(isObsolete)) this.#forget(gone)
    if (isFull())
      throw new RelayError('rate_limited', 'too many sites wait for their certificates', {
        'Retry-After': `${SITE_ORDER_POLL_MAX_S}`,
      })
  }

  /** Cancels the order of an identity, if there is one. Its result is not used. */
  #cancel(identityKey: string): void {
    const order = this.#orders.get(identityKey)
    if (order === undefined) return
    order.canceled.abort()
    this.#forget(order)
    if (order.isRunning) return
    for (const queue of [this.#renewals, this.#firsts]) queue.purge((waiting) => waiting === order)
  }

  #forget(order: Order): void {
    const { identityKey } = order.lease
    if (this.#orders.get(identityKey) === order) this.#orders.delete(identityKey)
  }

  #runNext(): void {
    while (!this.#isClosed && this.#running.size < SITE_ORDERS_AT_ONCE) {
      const order = this.#renewals.shift() ?? this.#firsts.shift()
      if (order === undefined) return
      if (isObsolete(order) || !this.#parts.mayHave(order.lease)) {
        this.#forget(order)
        continue
      }
      order.isRunning = true
      const run = this.#run(order).finally(() => {
        this.#running.delete(run)
        this.#forget(order)
        this.#runNext()
      })
      this.#running.add(run)
    }
  }

  /** Never rejects. */
  async #run(order: Order): Promise<void> {
    const { mayHave, issued, statuses, log } = this.#parts
    const { canceled } = order
    const { identityKey } = order.lease
    const { names } = order.request
    try {
      const chain = await this.#obtain(order)
      issued(order.lease, names, chain)
      if (canceled.signal.aborted || !mayHave(order.lease)) return
      this.#failures.delete(identityKey)
      statuses.succeeded('site')
      await this.#chains.put(identityKey, chain)
      log.info({ hostname: names[0] }, 'a site has a certificate of its own')
    } catch (cause) {
      if (!canceled.signal.aborted) this.#failed(order, asAcmeError(cause))
    }
  }

  async #obtain({ request, lease, canceled: { signal } }: Order): Promise<string> {
    const { identityKey } = lease
    const { names, der: csr } = request
    const obtain = async (): Promise<string> => {
      const renews = this.#chains.hadNames(identityKey, names)
      return await this.#parts.authority.obtain({ names, csr, for: 'site', identityKey, renews, signal })
    }
    if (this.#elsewhere === undefined) return await obtain()
    return await this.#elsewhere.alone(identityKey, request, signal, obtain)
  }

  #failed({ request, lease }: Order, error: AcmeError): void {
    const { retryAfterMs = SITE_ORDER_RETRY_MS, fault, message } = error
    const [hostname] = request.names
    const waitMs = Math.min(Math.max(retryAfterMs, SITE_ORDER_POLL_MIN_S * 1000), SITE_ORDER_RETRY_MAX_MS)
    const nextTryInS = Math.ceil(waitMs / 1000)
    this.#parts.log.warn(
      { hostname, fault, error: message, nextTryInS },
      'a site gets no certificate of its own for now',
    )
    this.#parts.statuses.failed('site', error)
    this.#failures.delete(lease.identityKey)
    this.#failures.set(lease.identityKey, { error, until: now() + waitMs })
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > SITE_FAILURES_MAX) this.#failures.delete(oldest!)
  }
}

/**
 * A waiting order takes over the request's key and names. A running one continues, and a later request makes a new
 * order: a site that keeps changing its request spends no more orders than the budget allows its identity.
 */
function askedAgain(order: Order, request: CertificateRequest, lease: Lease): SiteCertificateAnswer {
  order.lease = lease
  if (!order.isRunning) order.request = request
  return pending(order)
}

/** The polling interval grows with the waiting time: most orders take seconds, but some wait for name servers. */
function pending({ since }: Order): SiteCertificateAnswer {
  const share = ((now() - since) / 1000) * SITE_ORDER_POLL_SHARE
  return {
    retryAfterS: Math.ceil(Math.min(Math.max(share, SITE_ORDER_POLL_MIN_S), SITE_ORDER_POLL_MAX_S)),
  }
}

/** Whether nobody waits for an order any more. */
function isObsolete({ lease, canceled }: Order): boolean {
  return lease.ended.aborted || canceled.signal.aborted
}

function asAcmeError(cause: unknown): AcmeError {
  if (cause instanceof AcmeError) return cause
  return new AcmeError('unusable', `the certificate could not be ordered: ${(cause as Error).message}`, {
    cause,
  })
}

function refusal({ fault, message }: AcmeError, waitMs: number): RelayError {
  const code = fault === 'rate_limited' ? 'rate_limited' : 'feature_unavailable'
  return new RelayError(code, `no certificate for this site yet: ${message}`, {
    'Retry-After': `${Math.ceil(waitMs / 1000)}`,
  })
}
