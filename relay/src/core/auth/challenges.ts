// Keeps the open registration challenges: each belongs to one request, expires after two minutes and is used once.

import { randomBytes } from 'node:crypto'
import { CHALLENGE_TTL_S, registrationPurpose } from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import { now, toWallTime } from '../clock.ts'
import type { RateLimitSettings } from '../config/settings.ts'
import { RelayError } from '../errors.ts'
import type { LeaseRequest } from '../lease/lease-request.ts'
import { metadataSize } from '../lease/metadata-quota.ts'
import { openChallengesMax } from '../rate-limit/budgets.ts'
import { NetworkCounts } from '../rate-limit/fair-share.ts'
import type { MemoryShare, RequestMemory } from '../rate-limit/request-memory.ts'
import { issueSiweMessage } from './siwe.ts'

/** Open registration challenges of all clients. */
const CHALLENGES_MAX = 10_000
/** `Retry-After` for a client with too many open challenges. Most are used within a round trip. */
const CHALLENGES_RETRY_S = 2

export interface Challenge {
  id: string
  request: LeaseRequest
  /** The message to sign; registration must return it byte for byte. */
  message: string
  /** Relay time. */
  expiresAt: number
  /** Network of the client, under which the challenge counts. */
  network: string
  /** Memory of the request until the challenge is used or expires. */
  memory: MemoryShare
}

/** Stores the open challenges: in this process, or shared by all machines of a relay. */
export interface ChallengeStore {
  /**
   * @param address of the requester, normalized
   * @throws RelayError `rate_limited` when the network or the relay has too many open challenges
   */
  issue(request: LeaseRequest, address: string): Issued | Promise<Issued>
  /**
   * Uses a challenge up.
   * @param address of the client that registers, normalized
   * @returns undefined when it is unknown, used or expired
   */
  take(id: string, address: string): Open | undefined | Promise<Open | undefined>
  /** Refunds the units of a registration to a network, if the store charges them. */
  refund?(address: string): Promise<void>
}

type Issued = Pick<Challenge, 'id' | 'message' | 'expiresAt'>
type Open = Pick<Challenge, 'request' | 'message'>

const CHALLENGE_ID_BYTES = 8

/** @param host authority of the relay's URL */
export function newChallenge(host: string, { identity }: LeaseRequest): Issued {
  const id = `rch_${randomBytes(CHALLENGE_ID_BYTES).toString('hex')}`
  const issuedAt = now()
  const expiresAt = issuedAt + CHALLENGE_TTL_S * 1000
  const purpose = { ...registrationPurpose(host), address: identity.address, requestId: id }
  const message = issueSiweMessage(purpose, toWallTime(issuedAt), toWallTime(expiresAt))
  return { id, message, expiresAt }
}

/** An honest client uses a challenge within a round trip, so there may be room soon. */
export function tooManyChallenges(): RelayError {
  const message = 'too many registrations from your network are under way, or begun and not ended'
  return new RelayError('rate_limited', message, { 'Retry-After': `${CHALLENGES_RETRY_S}` })
}

export class Challenges implements ChallengeStore {
  readonly #host: string
  readonly #memory: RequestMemory
  readonly #settings: RateLimitSettings
  /** In order of expiry, since all live equally long. */
  readonly #open = new Map<string, Challenge>()
  readonly #perNetwork = new NetworkCounts()

  /**
   * @param host authority of the relay's URL, for the message
   * @param memory limit for requests of clients without a credential
   * @param settings the budget of a network, which scales its open challenges
   */
  constructor(host: string, memory: RequestMemory, settings: RateLimitSettings) {
    this.#host = host
    this.#memory = memory
    this.#settings = settings
  }

  /**
   * @param address of the requester, normalized
   * @throws RelayError `rate_limited` when the network or the relay has too many open challenges, or too much metadata in them
   */
  issue(request: LeaseRequest, address: string): Challenge {
    const network = networkOf(address)
    this.#dropExpired()
    const mayHave = this.#perNetwork.mayHave(1, network, CHALLENGES_MAX - this.#open.size, CHALLENGES_MAX)
    if (this.#perNetwork.of(network) >= openChallengesMax(this.#settings, address) || !mayHave)
      throw tooManyChallenges()
    const memory = this.#memory.share(network)
    memory.resize(metadataSize(request.metadata))
    const challenge = { ...newChallenge(this.#host, request), request, network, memory }
    this.#open.set(challenge.id, challenge)
    this.#perNetwork.add(network, 1)
    return challenge
  }

  /** Uses a challenge up. @returns undefined when it is unknown, used or expired */
  take(id: string): Challenge | undefined {
    this.#dropExpired()
    const challenge = this.#open.get(id)
    if (challenge !== undefined) this.#drop(challenge)
    return challenge
  }

  #dropExpired(): void {
    const time = now()
    for (const challenge of this.#open.values()) {
      if (challenge.expiresAt > time) return
      this.#drop(challenge)
    }
  }

  #drop({ id, network, memory }: Challenge): void {
    this.#open.delete(id)
    memory.release()
    this.#perNetwork.add(network, -1)
  }
}
