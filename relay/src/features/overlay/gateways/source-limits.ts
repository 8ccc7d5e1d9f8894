// Limits what clients may ask of a gateway, before it looks at any signature.

import { hash, randomBytes } from 'node:crypto'
import { GcraLimiter, NETWORK_SLOTS, type Rate } from '@svc/node-kit/gcra'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import { RelayError } from '../../../core/errors.ts'
import {
  GATEWAY_OUTBOUND_MAX,
  GATEWAY_SESSIONS_PER_INGRESS_MAX,
  GATEWAY_SESSIONS_PER_SOURCE_MAX,
  OVERLAY_LIMITS,
} from '../limits.ts'

const SLOT_KEY_BYTES = 32
/** Retry-After for a client when all places are taken, in seconds. */
const FULL_RETRY_S = 5

/** The limit that refused a request. */
type GatewayLimit = 'rate' | 'source_sessions' | 'ingress_sessions' | 'outbound'

export class SourceLimits {
  /** Requests that each limit refused. */
  readonly refused: Record<GatewayLimit, number> = {
    rate: 0,
    source_sessions: 0,
    ingress_sessions: 0,
    outbound: 0,
  }
  readonly #rates: GcraLimiter
  /** Secret, so that a client cannot aim at another one's slot. */
  readonly #slotKey = randomBytes(SLOT_KEY_BYTES).toString('hex')
  /** Requests that are pending or bridged, by source. */
  readonly #sessions = new Map<string, number>()
  /** Requests whose capability was checked, by the relay that signed it. */
  readonly #ingresses = new Map<string, number>()
  #outbound = 0

  /** @param ofSource rate of requests from one source */
  constructor(ofSource: Rate = OVERLAY_LIMITS.gatewaySourceRate) {
    this.#rates = new GcraLimiter(NETWORK_SLOTS, ofSource)
  }

  /** Requests that are pending or bridged. */
  get outbound(): number {
    return this.#outbound
  }

  get hasRoom(): boolean {
    return this.#outbound < GATEWAY_OUTBOUND_MAX
  }

  /**
   * Takes a place for one request.
   * @param clientIp normalized
   * @returns gives the place back, once
   * @throws RelayError `rate_limited`
   */
  take(clientIp: string): () => void {
    const source = networkOf(clientIp)
    this.#spendRequest(source)
    const sessions = this.#sessions.get(source) ?? 0
    if (sessions >= GATEWAY_SESSIONS_PER_SOURCE_MAX)
      throw this.#refusal('source_sessions', `${sessions} sessions of this address go through the gateway`)
    if (!this.hasRoom) throw this.#refusal('outbound', 'the gateway carries the maximum number of sessions')
    count(this.#sessions, source, 1)
    this.#outbound += 1
    return once(() => {
      this.#outbound -= 1
      count(this.#sessions, source, -1)
    })
  }

  /**
   * Takes a place from the share of an ingress relay, for a request whose capability that relay signed.
   * @param identity lower case with `0x`
   * @returns gives the place back, once
   * @throws RelayError `rate_limited`
   */
  takeShare(identity: string): () => void {
    if ((this.#ingresses.get(identity) ?? 0) >= GATEWAY_SESSIONS_PER_INGRESS_MAX)
      throw this.#refusal(
        'ingress_sessions',
        'the gateway carries the maximum number of sessions of that relay',
      )
    count(this.#ingresses, identity, 1)
    return once(() => count(this.#ingresses, identity, -1))
  }

  #spendRequest(source: string): void {
    const slot = hash('sha256', this.#slotKey + source, 'buffer').readUInt32BE() % NETWORK_SLOTS
    const now = performance.now()
    const waitMs = this.#rates.waitMs(slot, 1, now)
    if (waitMs > 0) throw this.#refusal('rate', 'too many requests', Math.ceil(waitMs / 1000))
    this.#rates.spend(slot, 1, now)
  }

  #refusal(limit: GatewayLimit, message: string, retryS: number = FULL_RETRY_S): RelayError {
    this.refused[limit] += 1
    return new RelayError('rate_limited', message, { 'Retry-After': `${retryS}` })
  }
}

function count(counts: Map<string, number>, key: string, delta: number): void {
  const sum = (counts.get(key) ?? 0) + delta
  if (sum > 0) counts.set(key, sum)
  else counts.delete(key)
}

function once(release: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) release()
    isDone = true
  }
}
