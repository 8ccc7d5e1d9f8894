// The custom domains of leases: when the relay looks their records up, what it makes of the answers, and what it tells the site.
// Requests of the site alone cause look-ups. None waits for one but `POST /sdk/domains`.

import type { DnsClient, DnsClientOptions } from '@svc/dns/client'
import type { CustomDomain } from '@svc/protocol'
import { wideNetworkOf } from '../../core/client-address/ip-address.ts'
import { now as relayTime } from '../../core/clock.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { LeaseSharing } from '../../core/lease/lease-sharing.ts'
import type { Route } from '../../core/lease/route.ts'
import type { Logger } from '../../core/log/log.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import {
  LOOKUP_MAX_MS,
  LOOKUPS_MAX,
  LOOKUPS_PER_NETWORK_MAX,
  PROOF_LIFETIME_MS,
  PROOF_RENEWAL_MS,
  QUESTIONS_MAX,
  RETRY_FIRST_MS,
  RETRY_MAX_MS,
} from './limits.ts'
import { refusalOf, suffixRefusal } from './names.ts'
import { pathProblem, recordsOf } from './path.ts'
import { lookUpProof, type Proof } from './proof.ts'
import type { RelayAddresses } from './relay-addresses.ts'
import { RememberedProofs } from './remembered-proofs.ts'
import { Turns } from './turns.ts'

export interface CustomDomainsParts {
  rootHost: string
  /** Whom look-ups ask. */
  dns: Omit<DnsClientOptions, 'signal' | 'questionsMax'> & { mayAsk(address: string): boolean }
  leases: Pick<LeaseRegistry, 'lead' | 'at' | 'onChange'> & Iterable<Lease>
  routes: Pick<RoutingTable<Route>, 'resolve'>
  policy: Pick<Policy, 'isDomainBanned' | 'onChange'>
  rateLimits: Pick<RateLimits, 'takeDomainLookup'>
  addresses: RelayAddresses
  /** The other machines of the relay; undefined on a single machine. */
  sharing: Pick<LeaseSharing, 'claimDomain' | 'renewed'> | undefined
  log: Logger
  /** @default relay time */
  now?: () => number
}

/** What is known of one domain of one lease. */
interface Watch {
  /** Why it can be no custom domain, found once. */
  refusal: string | undefined
  /** Why the domain is not proven or, while an earlier proof counts, was not proven again. */
  unproven: string | undefined
  /** Why visitors do not come here; empty: they do. */
  path: string
  isApex: boolean
  /** Relay time at which the last look-up began. */
  lookedUpAt: number
  /** Time after which the next one may begin, while the domain is not active. */
  retryMs: number
  running: Promise<void> | undefined
}

const NOT_YET = 'its records are being looked up'

/** Outcomes of look-ups, for metrics. */
export type Outcome = Proof['kind'] | 'refused'

export class CustomDomains {
  readonly outcomes: Record<Outcome, number> = { proven: 0, other: 0, unproven: 0, refused: 0 }
  readonly #parts: CustomDomainsParts
  readonly #now: () => number
  readonly #watches = new Map<Lease, Map<string, Watch>>()
  readonly #proofs = new RememberedProofs()
  readonly #turns = new Turns(LOOKUPS_MAX, LOOKUPS_PER_NETWORK_MAX)
  readonly #closing = new AbortController()

  constructor(parts: CustomDomainsParts) {
    this.#parts = parts
    this.#now = parts.now ?? relayTime
    parts.leases.onChange((lease) => {
      if (lease.ended.aborted) this.#watches.delete(lease)
      // Also of what another machine tells, which the claims in Redis may have forgotten when the owner has left.
      for (const { domain, provenAt } of lease.domains.proven)
        this.#proofs.outdate(domain, { identityKey: lease.identityKey, provenAt })
    })
    parts.policy.onChange(() => {
      // Also of leases whose sites have asked only other machines.
      for (const lease of parts.leases)
        for (const { domain } of lease.domains.proven)
          if (parts.policy.isDomainBanned(domain)) this.#lead(lease, domain, undefined)
    })
  }

  of(lease: Lease): CustomDomain[] {
    return [...this.#watchesOf(lease)].map(([domain, watch]) => this.#stateOf(lease, domain, watch))
  }

  ask(lease: Lease): CustomDomain[] {
    for (const [domain, watch] of this.#watchesOf(lease)) {
      this.#withdrawRefused(lease, domain, watch)
      this.#withdrawOld(lease, domain)
      if (this.#isDue(lease, domain, watch) && this.#parts.rateLimits.takeDomainLookup(lease.clientIp))
        watch.running = this.#run(lease, domain, watch)
    }
    return this.of(lease)
  }

  /** Resolves when no look-up of the lease's domains is under way. Never rejects. */
  async settled(lease: Lease): Promise<void> {
    await Promise.all([...this.#watchesOf(lease).values()].map(({ running }) => running))
  }

  /** Seconds until a domain that is not active may be looked up again; undefined if there is none. */
  retryAfterS(lease: Lease): number | undefined {
    const waits = [...this.#watchesOf(lease)]
      .filter(([domain, watch]) => this.#stateOf(lease, domain, watch).state === 'pending')
      .map(([, { lookedUpAt, retryMs }]) => {
        const left = lookedUpAt + retryMs - this.#now()
        // One that is due waits for its turn, or for the budget of its network.
        return left > 0 ? left : retryMs
      })
    return waits.length === 0 ? undefined : Math.ceil(Math.min(...waits) / 1000)
  }

  /** The number of domains in each state. */
  get counts(): Record<CustomDomain['state'], number> {
    const counts = { pending: 0, active: 0, refused: 0 }
    for (const [lease, watches] of this.#watches)
      for (const [domain, watch] of watches) counts[this.#stateOf(lease, domain, watch).state] += 1
    return counts
  }

  close(): void {
    this.#closing.abort()
  }

  /** At the first call for a lease, a proof that the same identity gave a moment ago counts at once, unless another one's came since. */
  #watchesOf(lease: Lease): ReadonlyMap<string, Watch> {
    const known = this.#watches.get(lease)
    if (known !== undefined) return known
    const { domains } = lease.preferences
    const watches = new Map(domains.map((domain) => [domain, this.#newWatch(domain)]))
    if (domains.length === 0 || lease.ended.aborted) return watches
    this.#watches.set(lease, watches)
    // The other machines have to be asked first.
    if (this.#parts.sharing !== undefined) return watches
    for (const [domain, watch] of watches) {
      const provenAt = this.#rememberedProof(lease, domain)
      if (provenAt !== undefined && this.#refusalOf(lease, domain, watch) === undefined)
        this.#lead(lease, domain, provenAt)
    }
    return watches
  }

  #rememberedProof(lease: Lease, domain: string): number | undefined {
    const { provenAt = Number.NEGATIVE_INFINITY } = this.#proofs.of(domain, lease.identityKey) ?? {}
    return this.#now() - provenAt < PROOF_RENEWAL_MS ? provenAt : undefined
  }

  /** At another machine, another identity may have proved the domain since. */
  async #leadAgain(lease: Lease, domain: string): Promise<void> {
    const provenAt = this.#rememberedProof(lease, domain)
    if (provenAt === undefined || lease.provenAt(domain) !== undefined) return
    const isClaimed = await this.#claim(lease, domain, provenAt)
    if (isClaimed && !lease.ended.aborted) this.#lead(lease, domain, provenAt)
  }

  #newWatch(domain: string): Watch {
    return {
      refusal: refusalOf(domain, this.#parts.rootHost),
      unproven: NOT_YET,
      path: NOT_YET,
      isApex: false,
      lookedUpAt: Number.NEGATIVE_INFINITY,
      retryMs: RETRY_FIRST_MS,
      running: undefined,
    }
  }

  #refusalOf(lease: Lease, domain: string, { refusal }: Watch): string | undefined {
    if (refusal !== undefined) return refusal
    const { policy, routes } = this.#parts
    if (policy.isDomainBanned(domain)) return "this relay's operator has banned it"
    const route = routes.resolve(domain)
    const isServed =
      route !== undefined && (route.to !== 'lease' || route.lease.provenAt(domain) === undefined)
    return isServed && route !== lease.route ? 'this relay serves it already' : this.#ownOther(lease, domain)
  }

  /** Says that another site of the same identity has the domain; undefined if none has. */
  #ownOther(lease: Lease, domain: string): string | undefined {
    const holder = this.#parts.leases.at(domain)
    const isOwn = holder !== lease && holder?.identity.address === lease.identity.address
    return isOwn
      ? `your other site ${holder.identity.name} serves it, until that one stops asking for it`
      : undefined
  }

  #withdrawRefused(lease: Lease, domain: string, watch: Watch): void {
    if (lease.provenAt(domain) === undefined || this.#refusalOf(lease, domain, watch) === undefined) return
    this.#lead(lease, domain, undefined)
  }

  #withdrawOld(lease: Lease, domain: string): void {
    const provenAt = lease.provenAt(domain)
    if (provenAt !== undefined && this.#now() - provenAt >= PROOF_LIFETIME_MS)
      this.#lead(lease, domain, undefined)
  }

  #isDue(lease: Lease, domain: string, watch: Watch): boolean {
    if (watch.running !== undefined || this.#refusalOf(lease, domain, watch) !== undefined) return false
    const isActive = lease.provenAt(domain) !== undefined && watch.path === ''
    const pauseMs = isActive ? PROOF_RENEWAL_MS : watch.retryMs
    return this.#now() - watch.lookedUpAt >= pauseMs
  }

  async #run(lease: Lease, domain: string, watch: Watch): Promise<void> {
    const release = await this.#turns.take(wideNetworkOf(lease.clientIp))
    try {
      if (!lease.ended.aborted && !this.#closing.signal.aborted) await this.#lookUp(lease, domain, watch)
    } catch (error) {
      this.#parts.log.warn({ err: error, domain }, 'the records of a custom domain were not looked up')
      watch.unproven = 'its records could not be looked up'
    } finally {
      watch.running = undefined
      release()
    }
  }

  async #lookUp(lease: Lease, domain: string, watch: Watch): Promise<void> {
    const time = this.#now()
    const isFirst = !Number.isFinite(watch.lookedUpAt)
    watch.lookedUpAt = time
    watch.retryMs = isFirst ? RETRY_FIRST_MS : Math.min(2 * watch.retryMs, RETRY_MAX_MS)
    watch.refusal = await suffixRefusal(domain)
    if (watch.refusal !== undefined) {
      this.outcomes.refused += 1
      return
    }
    const { isApex } = await import('./public-suffix.ts')
    watch.isApex = isApex(domain)
    await this.#leadAgain(lease, domain)
    const client = await this.#newClient()
    if (time - (lease.provenAt(domain) ?? Number.NEGATIVE_INFINITY) >= PROOF_RENEWAL_MS) {
      const proof = await lookUpProof(client, domain, lease.identity.address)
      if (this.#closing.signal.aborted) return
      this.outcomes[proof.kind] += 1
      watch.unproven = await this.#decide(lease, domain, proof, time)
    }
    const { rootHost, addresses, dns } = this.#parts
    const known = await addresses.find(client, lease.canonicalHostname)
    if (lease.provenAt(domain) === undefined) return
    watch.path = (await pathProblem(client, domain, { lease, rootHost, known, mayTell: dns.mayAsk })) ?? ''
  }

  /** Servers that answer slowly, wrongly or with large messages spoil only their own look-up. */
  async #newClient(): Promise<DnsClient> {
    const { DnsClient } = await import('@svc/dns/client')
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LOOKUP_MAX_MS)])
    return new DnsClient({ ...this.#parts.dns, questionsMax: QUESTIONS_MAX, signal })
  }

  /** @param time at which the look-up began @returns why the lease does not have the domain, or has it no longer than its proof counts */
  async #decide(lease: Lease, domain: string, proof: Proof, time: number): Promise<string | undefined> {
    if (lease.ended.aborted) return proof.kind === 'proven' ? undefined : proof.why
    if (proof.kind === 'unproven') return proof.why
    if (proof.kind === 'other') {
      if (lease.provenAt(domain) !== undefined) this.#lead(lease, domain, undefined)
      return proof.why
    }
    // Another site of the identity may have got it during the look-up.
    const other = this.#ownOther(lease, domain)
    if (other !== undefined) return other
    const isClaimed = await this.#claim(lease, domain, time)
    if (isClaimed === undefined) return 'the machines of this relay cannot agree on it at the moment'
    if (isClaimed && !lease.ended.aborted) this.#lead(lease, domain, time)
    return lease.provenAt(domain) === undefined ? 'another site has proved it since' : undefined
  }

  /** @returns undefined when the other machines cannot be asked */
  async #claim(lease: Lease, domain: string, time: number): Promise<boolean | undefined> {
    const { sharing } = this.#parts
    if (sharing === undefined) return true
    return await sharing.claimDomain(lease, domain, time).catch(() => undefined)
  }

  /** @param proof time of the proof; undefined: the domain does not lead to the lease any more */
  #lead(lease: Lease, domain: string, proof: number | undefined): void {
    const { leases, policy, sharing, log } = this.#parts
    // It may have been banned while its records were looked up, or the other machines were asked.
    const provenAt = policy.isDomainBanned(domain) ? undefined : proof
    const hadIt = lease.provenAt(domain) !== undefined
    const before = leases.at(domain)
    const others = lease.domains.proven.filter((one) => one.domain !== domain)
    const proven = provenAt === undefined ? others : [...others, { domain, provenAt }]
    leases.lead(lease, { changedAt: Math.max(this.#now(), lease.domains.changedAt + 1), proven })
    const hasIt = lease.provenAt(domain) !== undefined
    if (hasIt && provenAt !== undefined)
      this.#proofs.add(domain, { identityKey: lease.identityKey, provenAt })
    else this.#proofs.remove(domain, lease.identityKey)
    if (hadIt !== hasIt) {
      const what = hasIt ? 'a custom domain leads to a site' : 'a custom domain leads to the site no longer'
      log.info({ domain, identity_key: lease.identityKey }, what)
    }
    // The next renewal tells the other machines what they do not hear now.
    sharing?.renewed(lease).catch(() => {})
    // A machine that starts later may find only the lease that had it before.
    if (hasIt && before !== undefined && before !== lease) sharing?.renewed(before).catch(() => {})
  }

  #stateOf(lease: Lease, domain: string, watch: Watch): CustomDomain {
    const refusal = this.#refusalOf(lease, domain, watch)
    if (refusal !== undefined) return { domain, state: 'refused', reason: `${domain}: ${refusal}` }
    const isProven = lease.provenAt(domain) !== undefined
    const why = (isProven ? '' : watch.unproven) || watch.path || watch.unproven
    const known = this.#parts.addresses.known
    return {
      domain,
      state: isProven && watch.path === '' ? 'active' : 'pending',
      proven: isProven ? true : undefined,
      reason: why === undefined ? undefined : `${domain}: ${why}`,
      records: recordsOf(domain, { lease, known, isApex: watch.isApex }),
    }
  }
}
