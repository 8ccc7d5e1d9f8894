// Limits the requests of each network, and of all networks together, before the relay authenticates them.

import { hash, randomBytes } from 'node:crypto'
import {
  BUDGET_COST,
  RELAY_BUDGET_BURST,
  RELAY_BUDGET_PER_MINUTE,
  SOURCE_BUDGET_BURST,
  SOURCE_BUDGET_PER_MINUTE,
} from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import type { RateLimitSettings } from '../config/settings.ts'
import { RelayError } from '../errors.ts'
import {
  CERTIFICATE_POLLS_PER_IDENTITY,
  CERTIFICATE_POLLS_PER_NETWORK,
  CERTIFICATES_PER_IDENTITY,
  CERTIFICATES_PER_NETWORK,
  RATE_LIMIT_SLOTS,
  REFUND_BURST,
  REFUND_PER_MINUTE,
} from '../limits.ts'
import { GcraLimiter, type Rate } from './gcra.ts'

/** Units of one registration, its challenge included. */
const REGISTRATION_COST: number = BUDGET_COST.challenge + BUDGET_COST.register
const SLOT_KEY_BYTES = 32

interface CertificateLimiters {
  identities: GcraLimiter
  networks: GcraLimiter
}

export class RateLimits {
  readonly #settings: RateLimitSettings
  /** Made for the first request: many relays have none. */
  #certificates: CertificateLimiters | undefined
  /** Made for the first one, too. */
  #certificatePolls: CertificateLimiters | undefined
  readonly #networks: GcraLimiter
  readonly #refunds: GcraLimiter
  readonly #relay: GcraLimiter
  readonly #slotKey: string

  /** @param slotKey secret of this process, without which a client cannot aim at another network's slot */
  constructor(settings: RateLimitSettings, slotKey: Buffer = randomBytes(SLOT_KEY_BYTES)) {
    const { networkPerMinute, relayPerMinute } = settings
    this.#settings = settings
    this.#networks = new GcraLimiter(
      RATE_LIMIT_SLOTS,
      scaled(networkPerMinute, { perMinute: SOURCE_BUDGET_PER_MINUTE, burst: SOURCE_BUDGET_BURST }),
    )
    const refundsPerMinute = (REFUND_PER_MINUTE * networkPerMinute) / SOURCE_BUDGET_PER_MINUTE
    this.#refunds = new GcraLimiter(
      RATE_LIMIT_SLOTS,
      scaled(refundsPerMinute, { perMinute: REFUND_PER_MINUTE, burst: REFUND_BURST }),
    )
    this.#relay = new GcraLimiter(
      1,
      scaled(relayPerMinute, { perMinute: RELAY_BUDGET_PER_MINUTE, burst: RELAY_BUDGET_BURST }),
    )
    this.#slotKey = slotKey.toString('hex')
  }

  /**
   * Charges `units` to the client's network and to the relay, or to neither.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until there are enough units
   */
  charge(clientIp: string, units: number): void {
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    requireNoWait(Math.max(this.#networks.waitMs(slot, units, now), this.#relay.waitMs(0, units, now)))
    this.#networks.spend(slot, units, now)
    this.#relay.spend(0, units, now)
  }

  /**
   * Charges one certificate request to the identity and to the client's network, or to neither.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargeCertificate(clientIp: string, identityKey: string): void {
    this.#certificates ??= certificateLimiters(
      this.#settings,
      CERTIFICATES_PER_IDENTITY,
      CERTIFICATES_PER_NETWORK,
    )
    this.#chargeBoth(this.#certificates, clientIp, identityKey)
  }

  /**
   * The same for a request that asks for a certificate which is kept or under way.
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargeCertificatePoll(clientIp: string, identityKey: string): void {
    this.#certificatePolls ??= certificateLimiters(
      this.#settings,
      CERTIFICATE_POLLS_PER_IDENTITY,
      CERTIFICATE_POLLS_PER_NETWORK,
    )
    this.#chargeBoth(this.#certificatePolls, clientIp, identityKey)
  }

  /** Gives the units of a registration back to the network of a page that unregisters, most often to be reloaded. */
  refundRegistration(clientIp: string): void {
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    if (this.#refunds.waitMs(slot, REGISTRATION_COST, now) > 0) return
    this.#refunds.spend(slot, REGISTRATION_COST, now)
    this.#networks.refund(slot, REGISTRATION_COST, now)
  }

  #chargeBoth({ identities, networks }: CertificateLimiters, clientIp: string, identityKey: string): void {
    const [identity, network] = [this.#slotOf(identityKey), this.#slotOf(networkOf(clientIp))]
    const now = performance.now()
    requireNoWait(Math.max(identities.waitMs(identity, 1, now), networks.waitMs(network, 1, now)))
    identities.spend(identity, 1, now)
    networks.spend(network, 1, now)
  }

  #slotOf(client: string): number {
    return hash('sha256', this.#slotKey + client, 'buffer').readUInt32BE() % RATE_LIMIT_SLOTS
  }
}

/** They follow the operator's setting for registrations, each of which may want a certificate. */
function certificateLimiters(
  { networkPerMinute }: RateLimitSettings,
  ofIdentity: Rate,
  ofNetwork: Rate,
): CertificateLimiters {
  const factor = networkPerMinute / SOURCE_BUDGET_PER_MINUTE
  const limiter = ({ perMinute, burst }: Rate): GcraLimiter =>
    new GcraLimiter(RATE_LIMIT_SLOTS, {
      perMinute: perMinute * factor,
      burst: Math.max(1, burst * factor),
    })
  return { identities: limiter(ofIdentity), networks: limiter(ofNetwork) }
}

/** @throws RelayError `rate_limited` unless the wait is 0 */
function requireNoWait(waitMs: number): void {
  if (waitMs > 0)
    throw new RelayError('rate_limited', 'too many requests', {
      'Retry-After': `${Math.ceil(waitMs / 1000)}`,
    })
}

/** Scales a rate and its burst. A whole registration stays possible at once, however low the rate is. */
function scaled(perMinute: number, usual: Rate): Rate {
  return { perMinute, burst: Math.max(REGISTRATION_COST, (usual.burst * perMinute) / usual.perMinute) }
}
