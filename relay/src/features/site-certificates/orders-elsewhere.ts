// Follows the orders that the other machines of the relay make for sites: a site may ask for its certificate at any of them.

import { now } from '../../core/clock.ts'
import type { Logger } from '../../core/log/log.ts'
import type { OrderSharing } from '../acme/order-sharing.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { answers, leafOf } from './kept-chain.ts'
import { SITE_AWAY_MAX_MS, SITE_ORDER_ELSEWHERE_MS, SITE_ORDERS_ELSEWHERE_MAX } from './limits.ts'

/** Stores a chain that another machine obtained. Never rejects. */
export type Keep = (identityKey: string, chain: string) => Promise<void>

interface OrdersElsewhereParts {
  sharing: OrderSharing
  /** URL of the authority's ACME directory: chains from another one are ignored. */
  acmeDirectory: string
  keep: Keep
  log: Logger
}

export class OrdersElsewhere {
  readonly #parts: OrdersElsewhereParts
  /** Orders of other machines: identity key → relay time until which to remember it, oldest first. */
  readonly #underWay = new Map<string, number>()

  constructor(parts: OrdersElsewhereParts) {
    this.#parts = parts
    const { sharing, acmeDirectory, keep } = parts
    sharing.onOrder((order) => {
      if (order.acmeDirectory !== acmeDirectory) return
      this.#underWay.delete(order.identityKey)
      if (order.chain === undefined) this.#remember(order.identityKey)
      else void keep(order.identityKey, order.chain)
    })
  }

  /** Whether another machine has announced an order for an identity. */
  has(identityKey: string): boolean {
    return (this.#underWay.get(identityKey) ?? 0) > now()
  }

  /** Tells the others that this machine has an order for an identity. */
  begin(identityKey: string): void {
    const { sharing, acmeDirectory } = this.#parts
    sharing.publishOrder({ identityKey, acmeDirectory })
  }

  /**
   * Calls `order` while no other machine orders for the identity, unless one has already obtained a chain for the
   * request.
   */
  async alone(
    identityKey: string,
    request: CertificateRequest,
    signal: AbortSignal,
    order: () => Promise<string>,
  ): Promise<string> {
    return await this.#parts.sharing.alone(turnOf(identityKey), signal, async () => {
      const chain = await this.#chainOf(identityKey)
      if (chain !== undefined && isFor(chain, request)) return chain
      const ordered = await order()
      if (!signal.aborted) await this.#tell(identityKey, ordered)
      return ordered
    })
  }

  /**
   * Finds another machine's chain or order for a request; undefined if there is none, or while Redis does not answer.
   * @returns the chain, PEM; `pending` while its order is under way
   */
  async find(
    identityKey: string,
    request: CertificateRequest,
  ): Promise<{ chain: string } | 'pending' | undefined> {
    try {
      const chain = await this.#chainOf(identityKey)
      if (chain !== undefined && isFor(chain, request)) return { chain }
      return (await this.#parts.sharing.isUnderWay(turnOf(identityKey))) ? 'pending' : undefined
    } catch {
      return undefined
    }
  }

  /** Returns whether another machine obtained this certificate for an identity. @param leaf DER */
  async holds(identityKey: string, leaf: Buffer): Promise<boolean> {
    const chain = await this.#chainOf(identityKey).catch(() => undefined)
    return chain !== undefined && leafOf(chain)?.certificate.equals(leaf) === true
  }

  async #chainOf(identityKey: string): Promise<string | undefined> {
    const { sharing, acmeDirectory } = this.#parts
    const found = await sharing.chainOf(identityKey)
    return found?.acmeDirectory === acmeDirectory ? found.chain : undefined
  }

  /** Never rejects: the site gets its chain from this machine anyway. */
  async #tell(identityKey: string, chain: string): Promise<void> {
    const { sharing, acmeDirectory, log } = this.#parts
    const told = { identityKey, acmeDirectory, chain }
    sharing.publishOrder(told)
    const leftMs = (leafOf(chain)?.notAfter ?? 0) - Date.now()
    try {
      if (leftMs > 0) await sharing.keepChain(told, Math.min(leftMs, SITE_AWAY_MAX_MS))
    } catch (error) {
      const { message: reason } = error as Error
      log.warn(
        { identityKey, reason },
        "a site's certificate is not kept for machines that cannot be reached",
      )
    }
  }

  #remember(identityKey: string): void {
    this.#underWay.set(identityKey, now() + SITE_ORDER_ELSEWHERE_MS)
    const [oldest] = this.#underWay.keys()
    if (this.#underWay.size > SITE_ORDERS_ELSEWHERE_MAX) this.#underWay.delete(oldest!)
  }
}

/** Name of an identity's order as a task that only one machine runs at a time. */
function turnOf(identityKey: string): string {
  return `certificate:${identityKey}`
}

function isFor(chain: string, request: CertificateRequest): boolean {
  const leaf = leafOf(chain)
  return leaf !== undefined && answers(leaf, request)
}
