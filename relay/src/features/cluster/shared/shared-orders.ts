// The state of ACME that machines share: the lock, the files of account, budget and certificate, proofs, and chains of
// sites.

import { z } from '../../../core/config/schema.ts'
import { AcmeError } from '../../acme/authority.ts'
import type { OrderSharing, PublishedOrder, PublishedProof } from '../../acme/order-sharing.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { type RedisClient, RedisError } from '../redis/redis-client.ts'
import { withRedisLock } from '../redis/redis-lock.ts'
import type { Seal } from './seal.ts'
import type { SharedFiles } from './shared-files.ts'

interface SharedOrdersParts {
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  files: SharedFiles
  publish(topic: string, text: string): void
  /** Resolves when the other machines have received all messages sent so far, or after a short time. */
  acknowledged(): Promise<void>
  onTold(topic: string, listener: (text: string) => void): void
}

const PROOFS = 'acme-proof'
const ORDERS = 'site-order'

const proofSchema: z.ZodType<PublishedProof> = z.object({
  type: z.enum(['tls-alpn-01', 'dns-01']),
  name: z.string(),
  keyAuthorization: z.string(),
  isShown: z.boolean(),
})
const orderSchema: z.ZodType<PublishedOrder> = z.object({
  identityKey: z.string(),
  acmeDirectory: z.string(),
  chain: z.string().optional(),
})

export class SharedOrders implements OrderSharing {
  readonly #parts: SharedOrdersParts

  constructor(parts: SharedOrdersParts) {
    this.#parts = parts
  }

  async alone<T>(what: string, signal: AbortSignal, use: () => Promise<T>): Promise<T> {
    return await orUnreachable(withRedisLock(this.#parts, what, signal, use))
  }

  async isUnderWay(what: string): Promise<boolean> {
    const { redis, keys } = this.#parts
    return Number(await orUnreachable(redis.command('EXISTS', keys.lock(what)))) === 1
  }

  async refresh(names: readonly string[]): Promise<void> {
    for (const name of names) await orUnreachable(this.#parts.files.refresh(name))
  }

  async publish(names: readonly string[]): Promise<void> {
    await orUnreachable(this.#parts.files.publish(names))
  }

  onChange(listener: (file: string) => void): void {
    this.#parts.files.onChange(listener)
  }

  async publishProof(proof: PublishedProof): Promise<void> {
    const { publish, acknowledged } = this.#parts
    publish(PROOFS, JSON.stringify(proof))
    await acknowledged()
  }

  onProof(listener: (proof: PublishedProof) => void): void {
    this.#parts.onTold(PROOFS, (text) => ifRead(proofSchema, text, listener))
  }

  async chainOf(identityKey: string): Promise<PublishedOrder | undefined> {
    const { redis, keys, seal } = this.#parts
    const sealed = await orUnreachable(redis.command('GET', keys.siteChain(identityKey)))
    if (typeof sealed !== 'string') return undefined
    const text = seal.open('chain', keys.identityName(identityKey), '', sealed)
    const found: PublishedOrder[] = []
    if (text !== undefined) ifRead(orderSchema, text, (order) => found.push(order))
    return found[0]
  }

  async keepChain(order: PublishedOrder, keptMs: number): Promise<void> {
    const { redis, keys, seal } = this.#parts
    const { identityKey } = order
    const sealed = seal.close('chain', keys.identityName(identityKey), '', JSON.stringify(order))
    await orUnreachable(redis.command('SET', keys.siteChain(identityKey), sealed, 'PX', Math.ceil(keptMs)))
  }

  publishOrder(order: PublishedOrder): void {
    this.#parts.publish(ORDERS, JSON.stringify(order))
  }

  onOrder(listener: (order: PublishedOrder) => void): void {
    this.#parts.onTold(ORDERS, (text) => ifRead(orderSchema, text, listener))
  }
}

/** Messages of other versions that do not parse are ignored. */
function ifRead<T>(schema: z.ZodType<T>, text: string, use: (value: T) => void): void {
  let read: ReturnType<typeof schema.safeParse>
  try {
    read = schema.safeParse(JSON.parse(text))
  } catch {
    return
  }
  if (read.success) use(read.data)
}

async function orUnreachable<T>(reply: Promise<T>): Promise<T> {
  return await reply.catch((error) => {
    if (!(error instanceof RedisError)) throw error
    throw new AcmeError('unreachable', `no certificate is ordered for now, since ${error.message}`, {
      cause: error,
    })
  })
}
