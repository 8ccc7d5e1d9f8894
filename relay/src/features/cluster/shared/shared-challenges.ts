// Challenges that any machine accepts, whichever issued them, and the budgets that clients have across all machines.

import { BUDGET_COST, CHALLENGE_TTL_S } from '@svc/protocol'
import { type ChallengeStore, newChallenge, tooManyChallenges } from '../../../core/auth/challenges.ts'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import type { RateLimitSettings } from '../../../core/config/settings.ts'
import { RelayError } from '../../../core/errors.ts'
import type { LeaseRequest } from '../../../core/lease/lease-request.ts'
import { metadataSize } from '../../../core/lease/metadata-quota.ts'
import {
  isSpared,
  networkBudget,
  ofNetwork,
  openChallengesMax,
  REGISTRATION_COST,
  relayBudget,
} from '../../../core/rate-limit/budgets.ts'
import type { RequestMemory } from '../../../core/rate-limit/request-memory.ts'
import { CLOCK_DIFFERENCE_MAX_MS } from '../limits.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { orDown, type RedisClient } from '../redis/redis-client.ts'
import { ISSUE_CHALLENGE, REFUND, TAKE_CHALLENGE } from '../redis/scripts.ts'
import type { Seal } from './seal.ts'

interface SharedChallengesParts {
  /** Authority of the relay's URL. */
  host: string
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  rateLimits: RateLimitSettings
  /** Limit of what this machine has put into Redis for clients without a credential. */
  memory: RequestMemory
}

/** The sealed part of a challenge. */
interface Kept {
  request: LeaseRequest
  message: string
  /** Wall clock. */
  until: number
}

export class SharedChallenges implements ChallengeStore {
  readonly #parts: SharedChallengesParts
  /** Rates in units per minute and burst units, by the scripts' names. */
  readonly #rates: Record<`${'network' | 'relay'}${'PerMinute' | 'Burst'}`, number>
  /** Ids of the challenges that this machine has taken. */
  readonly #taken = new Set<string>()

  constructor(parts: SharedChallengesParts) {
    this.#parts = parts
    const [network, relay] = [networkBudget(parts.rateLimits), relayBudget(parts.rateLimits)]
    this.#rates = {
      networkPerMinute: network.perMinute,
      networkBurst: network.burst,
      relayPerMinute: relay.perMinute,
      relayBurst: relay.burst,
    }
  }

  async issue(
    request: LeaseRequest,
    address: string,
  ): Promise<{ id: string; message: string; expiresAt: number }> {
    const { host, redis, keys, seal, memory, rateLimits } = this.#parts
    const network = networkOf(address)
    const challenge = newChallenge(host, request)
    const share = memory.share(network)
    share.resize(metadataSize(request.metadata))
    setTimeout(() => share.release(), CHALLENGE_TTL_S * 1000).unref()
    const { id, message } = challenge
    const [name, networkName] = [keys.challengeName(id), keys.networkName(network)]
    // An old entry that somebody puts back would open, but has expired by this time.
    const until = Date.now() + CHALLENGE_TTL_S * 1000 + CLOCK_DIFFERENCE_MAX_MS
    const text = JSON.stringify({ request, message, until } satisfies Kept)
    const wait = Number(
      await orDown(
        redis.run(
          ISSUE_CHALLENGE,
          {
            challenge: keys.challenge(id),
            open: keys.openChallenges + networkName,
            networkBudget: keys.budget(network),
            relayBudget: keys.budget('relay'),
          },
          {
            challenge: name,
            entry: `${networkName} ${seal.close('challenge', name, networkName, text)}`,
            ttlMs: CHALLENGE_TTL_S * 1000,
            openMax: openChallengesMax(rateLimits, address),
            units: isSpared(rateLimits, address) ? 0 : BUDGET_COST.challenge,
            ...this.#rates,
          },
        ),
      ),
    )
    if (wait < 0) throw tooManyChallenges()
    this.#requireNoWait(wait)
    return challenge
  }

  async take(id: string, address: string): Promise<{ request: LeaseRequest; message: string } | undefined> {
    const { redis, keys, seal, rateLimits } = this.#parts
    const network = networkOf(address)
    const name = keys.challengeName(id)
    const [wait, entry] = (await orDown(
      redis.run(
        TAKE_CHALLENGE,
        {
          challenge: keys.challenge(id),
          networkBudget: keys.budget(network),
          relayBudget: keys.budget('relay'),
        },
        {
          open: keys.openChallenges,
          challenge: name,
          units: isSpared(rateLimits, address) ? 0 : BUDGET_COST.register,
          ...this.#rates,
        },
      ),
    )) as [number, string | null]
    this.#requireNoWait(wait)
    if (entry === null) return undefined
    const [networkName = '', sealed = ''] = entry.split(' ')
    const text = seal.open('challenge', name, networkName, sealed)
    if (text === undefined) return undefined
    const { request, message, until } = JSON.parse(text) as Kept
    const isOver = this.#taken.has(id) || until <= Date.now()
    if (isOver) seal.warn('challenge', 'replayed')
    else this.#remember(id)
    return isOver ? undefined : { request, message }
  }

  /** Prevents this machine from taking a challenge again that somebody puts back. */
  #remember(id: string): void {
    this.#taken.add(id)
    setTimeout(() => this.#taken.delete(id), CHALLENGE_TTL_S * 1000 + 2 * CLOCK_DIFFERENCE_MAX_MS).unref()
  }

  /** Returns the units of a registration to the network of a site that unregisters. Never rejects. */
  async refund(address: string): Promise<void> {
    const { redis, keys } = this.#parts
    const budget = keys.budget(networkOf(address))
    const args = { units: REGISTRATION_COST, perMinute: this.#rates.networkPerMinute }
    await redis.run(REFUND, { budget }, args).catch(() => {})
  }

  #requireNoWait(waitMs: number): void {
    if (waitMs > 0)
      throw new RelayError('rate_limited', `too many ${ofNetwork(this.#parts.rateLimits)}`, {
        'Retry-After': `${Math.ceil(waitMs / 1000)}`,
      })
  }
}
