// Limits the requests of each network, and of all networks together, before the relay authenticates them.

import { hash, randomBytes } from 'node:crypto'
import { GcraLimiter, NETWORK_SLOTS, type Rate } from '@svc/node-kit/gcra'
import { RELAY_BUDGET_PER_MINUTE, SOURCE_BUDGET_PER_MINUTE } from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import type { RateLimitSettings } from '../config/settings.ts'
import { RelayError } from '../errors.ts'
import {
  isSpared,
  networkBudget,
  ofNetwork,
  ofRelay,
  REGISTRATION_COST,
  relayBudget,
  scaledBudget,
} from './budgets.ts'

/**
 * The factor by which the budget of a relay on the overlay exceeds that of a client, since the sites whose routes go
 * through it register from its address. Twenty of them can register in a minute, and all relays together stay within
 * this relay's budget.
 */
export const PEER_BUDGET_FACTOR = 12
/**
 * Certificate requests of one identity, where `SOURCE_BUDGET_PER_MINUTE` is its default; they scale with it. A site
 * asks once in months, or once per process if it keeps no key.
 */
export const CERTIFICATES_PER_IDENTITY: Rate = { perMinute: 1, burst: 10 }
/** The same from one network, which registers fewer leases in that time. */
const CERTIFICATES_PER_NETWORK: Rate = { perMinute: 10, burst: 20 }
/**
 * Requests of one identity for a certificate that is stored or being issued. A site polls every second at first, later
 * every 30 s.
 */
export const CERTIFICATE_POLLS_PER_IDENTITY: Rate = { perMinute: 30, burst: 60 }
/** The same from one network. Each costs the relay some 0.2 ms, for the signature of the request. */
export const CERTIFICATE_POLLS_PER_NETWORK: Rate = { perMinute: 600, burst: 600 }
/**
 * Searches for sites at other relays, for visitors of one network, where `SOURCE_BUDGET_PER_MINUTE` is its default; they scale
 * with it. The page of `/go/` asks again after 5 s at the earliest, and results hold for as long.
 */
export const SITE_SEARCHES_PER_NETWORK: Rate = { perMinute: 30, burst: 4 }
/**
 * The same for all visitors of the relay, scaled by `RELAY_BUDGET_PER_MINUTE`. Each search asks up to 16 relays.
 * Searches for sites that this relay has found before have a separate budget of the same size, which searches for
 * invented sites cannot use up.
 */
export const SITE_SEARCHES: Rate = { perMinute: 120, burst: 30 }
/**
 * Visitors of one network whom `/go/` cannot lead to a site, where `SOURCE_BUDGET_PER_MINUTE` is its default; they scale with it.
 * A class of 100 that waits for a site asks as often at first. Each costs the relay some 0.1 ms.
 */
export const GO_VISITS_PER_NETWORK: Rate = { perMinute: 600, burst: 300 }
/**
 * Look-ups of the records of custom domains, for the sites of one network, where `SOURCE_BUDGET_PER_MINUTE` is its default; they scale
 * with it. Each asks all name servers of a zone.
 */
const DOMAIN_LOOKUPS_PER_NETWORK: Rate = { perMinute: 60, burst: 120 }
/** Requests of one network about payments: a site asks three times for each of its visitors who pays. */
const PAYMENT_REQUESTS_PER_NETWORK: Rate = { perMinute: 600, burst: 120 }
/** The same of all networks. A signature takes some milliseconds of the processor to check. */
const PAYMENT_REQUESTS: Rate = { perMinute: 3_000, burst: 300 }
/** Requests of one network whether the relay has a site. Another relay asks as often as it may search. */
export const SITE_QUESTIONS_PER_NETWORK: Rate = { perMinute: 240, burst: 120 }
/** Units that unregistering refunds to a network in a minute. */
const REFUND_PER_MINUTE = 60
/** The same at once: a page that is reloaded ten times. */
const REFUND_BURST = 60
/**
 * Seconds for which requests of one identity may occupy slots for uploads and checks, where `SOURCE_BUDGET_PER_MINUTE`
 * is its default; they scale with it. A request that takes longer than the rest of the budget delays later ones.
 */
const CACHE_SECONDS_PER_IDENTITY: Rate = { perMinute: 30, burst: 150 }
/** The same from one network: half of the slots for uploads. */
const CACHE_SECONDS_PER_NETWORK: Rate = { perMinute: 60, burst: 300 }
/** Seconds that each such request costs at least: what it takes to parse a large manifest, several times. */
const CACHE_SECONDS_MIN = 0.1
const SLOT_KEY_BYTES = 32
const MS_PER_S = 1000

interface LimiterPair {
  identities: GcraLimiter
  networks: GcraLimiter
}

export class RateLimits {
  readonly #settings: RateLimitSettings
  /** Created at the first request: many relays get none. */
  #certificates: LimiterPair | undefined
  /** Also created at the first request. */
  #certificatePolls: LimiterPair | undefined
  /** Created at the first request of a site that stores files. */
  #cacheSeconds: LimiterPair | undefined
  /** Created at the first search for a site at other relays. */
  #siteSearches: { networks: GcraLimiter; relay: GcraLimiter } | undefined
  /** Created at the first request about a payment. */
  #payments: { networks: GcraLimiter; relay: GcraLimiter } | undefined
  /** Created at the first request whether the relay has a site. */
  #siteQuestions: GcraLimiter | undefined
  /** Created at the first visitor of `/go/` who cannot be led to a site. */
  #goVisits: GcraLimiter | undefined
  /** Created at the first look-up of a custom domain. */
  #domainLookups: GcraLimiter | undefined
  readonly #networks: GcraLimiter
  readonly #refunds: GcraLimiter
  readonly #relay: GcraLimiter
  readonly #slotKey: string
  readonly #isPeer: (clientIp: string) => boolean

  /**
   * @param isPeer whether an address is that of another relay, through which many sites come
   * @param slotKey secret of this process, without which a client cannot aim at another network's slot
   */
  constructor(
    settings: RateLimitSettings,
    isPeer: (clientIp: string) => boolean = () => false,
    slotKey: Buffer = randomBytes(SLOT_KEY_BYTES),
  ) {
    this.#isPeer = isPeer
    this.#settings = settings
    this.#networks = new GcraLimiter(NETWORK_SLOTS, networkBudget(settings))
    const refundsPerMinute = (REFUND_PER_MINUTE * settings.networkPerMinute) / SOURCE_BUDGET_PER_MINUTE
    this.#refunds = new GcraLimiter(
      NETWORK_SLOTS,
      scaledBudget(refundsPerMinute, { perMinute: REFUND_PER_MINUTE, burst: REFUND_BURST }),
    )
    this.#relay = new GcraLimiter(1, relayBudget(settings))
    this.#slotKey = slotKey.toString('hex')
  }

  /**
   * Charges `units` to the client's network and to the relay, or to neither. A peer's network has a larger budget, and a client on the
   * machine of a relay on localhost pays nothing.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until there are enough units
   */
  charge(clientIp: string, units: number): void {
    if (isSpared(this.#settings, clientIp)) return
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    const share = this.#shareOf(clientIp, units)
    const ownMs = this.#networks.waitMs(slot, share, now)
    const allMs = this.#relay.waitMs(0, units, now)
    requireNoWait(Math.max(ownMs, allMs), (ownMs < allMs ? ofRelay : ofNetwork)(this.#settings))
    this.#networks.spend(slot, share, now)
    this.#relay.spend(0, units, now)
  }

  /**
   * Charges one certificate request to the identity and to the client's network, or to neither.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargeCertificate(clientIp: string, identityKey: string): void {
    this.#certificates ??= limiterPair(this.#settings, CERTIFICATES_PER_IDENTITY, CERTIFICATES_PER_NETWORK)
    this.#chargeBoth(this.#certificates, 'requests for certificates', clientIp, identityKey)
  }

  /**
   * The same for a request for a certificate that is stored or being issued.
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargeCertificatePoll(clientIp: string, identityKey: string): void {
    this.#certificatePolls ??= limiterPair(
      this.#settings,
      CERTIFICATE_POLLS_PER_IDENTITY,
      CERTIFICATE_POLLS_PER_NETWORK,
    )
    this.#chargeBoth(this.#certificatePolls, 'questions for certificates', clientIp, identityKey)
  }

  /**
   * Begins a request to the static cache. Its identity and network are charged for its duration.
   * @param clientIp normalized IP address
   * @returns ends the request
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  beginCacheRequest(clientIp: string, identityKey: string): () => void {
    this.#cacheSeconds ??= limiterPair(this.#settings, CACHE_SECONDS_PER_IDENTITY, CACHE_SECONDS_PER_NETWORK)
    const limiters = this.#cacheSeconds
    const begun = performance.now()
    this.#chargeBoth(limiters, 'requests to the static cache', clientIp, identityKey, CACHE_SECONDS_MIN)
    return () => {
      const more = (performance.now() - begun) / MS_PER_S - CACHE_SECONDS_MIN
      if (more > 0) this.#spendBoth(limiters, clientIp, identityKey, more)
    }
  }

  /**
   * Charges one search for a site at other relays to the visitor's network and to the relay, or to neither.
   * @param clientIp normalized IP address
   * @param wasFoundBefore whether this relay has found the site before: such searches have a budget of their own
   * @throws RelayError `rate_limited` with the time until another one may begin
   */
  chargeSiteSearch(clientIp: string, wasFoundBefore: boolean): void {
    const { networkPerMinute, relayPerMinute } = this.#settings
    this.#siteSearches ??= {
      networks: limiterOf(SITE_SEARCHES_PER_NETWORK, networkPerMinute / SOURCE_BUDGET_PER_MINUTE),
      relay: limiterOf(SITE_SEARCHES, relayPerMinute / RELAY_BUDGET_PER_MINUTE, 2),
    }
    const { networks, relay } = this.#siteSearches
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    const kind = wasFoundBefore ? 1 : 0
    requireNoWait(Math.max(networks.waitMs(slot, 1, now), relay.waitMs(kind, 1, now)), 'searches for sites')
    networks.spend(slot, 1, now)
    relay.spend(kind, 1, now)
  }

  /**
   * Charges one request whether the relay has a site to the client's network.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargeSiteQuestion(clientIp: string): void {
    this.#siteQuestions ??= this.#networkLimiter(SITE_QUESTIONS_PER_NETWORK)
    this.#chargeNetwork(this.#siteQuestions, clientIp, 'questions for sites')
  }

  /**
   * Charges one visitor whom `/go/` cannot lead to a site to the visitor's network.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargeGoVisit(clientIp: string): void {
    this.#goVisits ??= this.#networkLimiter(GO_VISITS_PER_NETWORK)
    this.#chargeNetwork(this.#goVisits, clientIp, 'visitors of sites that are away')
  }

  /** Takes one look-up of a custom domain from the budget of the client's network. @returns false when it has none left */
  takeDomainLookup(clientIp: string): boolean {
    if (isSpared(this.#settings, clientIp)) return true
    this.#domainLookups ??= this.#networkLimiter(DOMAIN_LOOKUPS_PER_NETWORK)
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    if (this.#domainLookups.waitMs(slot, 1, now) > 0) return false
    this.#domainLookups.spend(slot, 1, now)
    return true
  }

  #networkLimiter(rate: Rate): GcraLimiter {
    return limiterOf(rate, this.#settings.networkPerMinute / SOURCE_BUDGET_PER_MINUTE)
  }

  #chargeNetwork(networks: GcraLimiter, clientIp: string, what: string): void {
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    requireNoWait(networks.waitMs(slot, 1, now), what)
    networks.spend(slot, 1, now)
  }

  /**
   * Charges one request about a payment to the client's network and to the relay, or to neither.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until another one may come
   */
  chargePayment(clientIp: string): void {
    const { networkPerMinute, relayPerMinute } = this.#settings
    this.#payments ??= {
      networks: limiterOf(PAYMENT_REQUESTS_PER_NETWORK, networkPerMinute / SOURCE_BUDGET_PER_MINUTE),
      relay: limiterOf(PAYMENT_REQUESTS, relayPerMinute / RELAY_BUDGET_PER_MINUTE, 1),
    }
    const { networks, relay } = this.#payments
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    requireNoWait(Math.max(networks.waitMs(slot, 1, now), relay.waitMs(0, 1, now)), 'requests about payments')
    networks.spend(slot, 1, now)
    relay.spend(0, 1, now)
  }

  /**
   * Refunds a registration to the network of a page that unregisters, usually because it reloads.
   * @returns false when the network has had too many refunds
   */
  refundRegistration(clientIp: string): boolean {
    const slot = this.#slotOf(networkOf(clientIp))
    const now = performance.now()
    if (this.#refunds.waitMs(slot, REGISTRATION_COST, now) > 0) return false
    this.#refunds.spend(slot, REGISTRATION_COST, now)
    this.#networks.refund(slot, this.#shareOf(clientIp, REGISTRATION_COST), now)
    return true
  }

  /** Returns the cost of `units` in the budget of the client's network. */
  #shareOf(clientIp: string, units: number): number {
    return this.#isPeer(clientIp) ? units / PEER_BUDGET_FACTOR : units
  }

  /** @param what the limited thing, for the text of a refusal */
  #chargeBoth(limiters: LimiterPair, what: string, clientIp: string, identityKey: string, units = 1): void {
    if (isSpared(this.#settings, clientIp)) return
    const { identities, networks } = limiters
    const [identity, network] = this.#slotsOf(clientIp, identityKey)
    const now = performance.now()
    requireNoWait(
      Math.max(identities.waitMs(identity, units, now), networks.waitMs(network, units, now)),
      what,
    )
    this.#spendBoth(limiters, clientIp, identityKey, units)
  }

  #spendBoth(
    { identities, networks }: LimiterPair,
    clientIp: string,
    identityKey: string,
    units: number,
  ): void {
    const [identity, network] = this.#slotsOf(clientIp, identityKey)
    const now = performance.now()
    identities.spend(identity, units, now)
    networks.spend(network, units, now)
  }

  #slotsOf(clientIp: string, identityKey: string): [identity: number, network: number] {
    return [this.#slotOf(identityKey), this.#slotOf(networkOf(clientIp))]
  }

  #slotOf(client: string): number {
    return hash('sha256', this.#slotKey + client, 'buffer').readUInt32BE() % NETWORK_SLOTS
  }
}

/** They follow the operator's setting for registrations, each of which may want a certificate or store files. */
function limiterPair(
  { networkPerMinute }: RateLimitSettings,
  ofIdentity: Rate,
  ofNetwork: Rate,
): LimiterPair {
  const factor = networkPerMinute / SOURCE_BUDGET_PER_MINUTE
  return { identities: limiterOf(ofIdentity, factor), networks: limiterOf(ofNetwork, factor) }
}

function limiterOf({ perMinute, burst }: Rate, factor: number, slots = NETWORK_SLOTS): GcraLimiter {
  return new GcraLimiter(slots, { perMinute: perMinute * factor, burst: Math.max(1, burst * factor) })
}

/** @throws RelayError `rate_limited` unless the wait is 0 */
function requireNoWait(waitMs: number, what: string): void {
  if (waitMs > 0)
    throw new RelayError('rate_limited', `too many ${what}`, {
      'Retry-After': `${Math.ceil(waitMs / 1000)}`,
    })
}
