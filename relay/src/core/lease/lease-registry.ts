// The active leases: one per identity, each published under its hostnames until it ends.

import { canonicalLabel, type Identity, identityKey, type LeaseMetadata } from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import { now } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { NetworkCounts } from '../rate-limit/fair-share.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import { type ExpiryEntry, ExpiryHeap } from './expiry-heap.ts'
import type { FormerOwner } from './former-owners.ts'
import { Lease, type LeaseDomains, type LeaseEnd, NO_DOMAINS, type ProvenDomain } from './lease.ts'
import { type ClaimedPorts, LeaseDraft, NO_PORTS } from './lease-draft.ts'
import type { LeasePorts } from './lease-ports.ts'
import type { LeaseAddresses, LeaseRequest } from './lease-request.ts'
import type { LeaseGrant, SharedLease } from './lease-sharing.ts'
import { MetadataQuota } from './metadata-quota.ts'
import type { PreparedReservation, Reservation, Reservations } from './reservations.ts'
import type { Route } from './route.ts'

/** Active leases. */
export const LEASES_MAX = 100_000
/** A name is kept for a certificate until the next whole number of this many milliseconds. */
export const CERTIFIED_STEP_MS = 3_600_000

/** What the operator decides about friendly names. */
export interface NameRules {
  /** Whether nobody may have the name to whom it is not pinned. */
  isReserved(name: string): boolean
  /** The address of the one identity that may have the name. */
  pinnedTo(name: string): string | undefined
}

/** An AwayLease is what an away page needs of a lease that has ended. */
export type AwayLease = Pick<Lease, 'hostname' | 'identity' | 'identityKey' | 'registeredFrom'>

const FREE_NAMES: NameRules = { isReserved: () => false, pinnedTo: () => undefined }

export class LeaseRegistry {
  readonly #routes: RoutingTable<Route>
  readonly #portHost: () => string | undefined
  readonly #reservations: Reservations
  readonly #names: NameRules
  /** In the order of their registration. */
  readonly #leases = new Map<string, ExpiryEntry<Lease>>()
  /** The same; undefined after one came or went. */
  #inOrder: readonly Lease[] | undefined
  #sequence = 0
  readonly #onChange = new Set<(lease: Lease) => void>()
  readonly #onAway = new Set<(lease: AwayLease, isAsked: boolean) => void>()
  #isClosed = false
  readonly #metadata = new MetadataQuota()
  /** Active leases by the network of their registration. */
  readonly #perNetwork = new NetworkCounts()
  readonly #expiries = new ExpiryHeap<Lease>((lease) => this.end(lease, 'expired'))

  /**
   * @param reservations what each identity holds, also from before this process started
   * @param portHost host that addresses of dedicated ports name at this time; undefined: the root host
   */
  constructor(
    routes: RoutingTable<Route>,
    reservations: Reservations,
    names: NameRules = FREE_NAMES,
    portHost: () => string | undefined = () => undefined,
  ) {
    this.#routes = routes
    this.#portHost = portHost
    this.#reservations = reservations
    this.#names = names
  }

  /** Called when a lease is registered, renewed or ended, before the response is sent. */
  onChange(listener: (lease: Lease) => void): void {
    this.#onChange.add(listener)
  }

  /** Called with a lease of which this machine hears after its end, and whether it asked for an away page. */
  onAway(listener: (lease: AwayLease, isAsked: boolean) => void): void {
    this.#onAway.add(listener)
  }

  get size(): number {
    return this.#leases.size
  }

  /**
   * @throws RelayError `feature_unavailable` when all leases together, or those of the client's network, have too much
   *   metadata
   */
  requireRoomFor(metadata: LeaseMetadata, clientIp: string, replaced?: Lease): void {
    this.#metadata.require(metadata, clientIp, replaced)
  }

  /**
   * Reserves the name and ports of a future lease.
   * @param claimed its ports, which are released when this throws
   * @throws RelayError `hostname_conflict` when another identity has the friendly hostname, or it is reserved, and no
   *   fallback is allowed
   */
  draft(request: LeaseRequest, addresses: LeaseAddresses, claimed: ClaimedPorts = NO_PORTS): LeaseDraft {
    const key = keyOf(request)
    const previous = this.#leases.get(key)?.value
    try {
      this.#requireRoom(request, addresses.clientIp, previous)
      const hostname = this.#friendlyHostname(request, previous)
      const expiresAt = now() + request.ttlS * 1000
      const awayPage = request.preferences?.awayPage
      const network = networkOf(addresses.clientIp)
      const wanted = { hostname, expiresAt, ports: claimed.ports, network, awayPage }
      const reservation = this.#reservations.prepare(key, wanted)
      return new LeaseDraft({
        reservation,
        claimed,
        addresses,
        firstSeenAt: previous?.firstSeenAt ?? now(),
        publish: (grant) => this.#register(request, addresses, claimed.ports, reservation, grant),
      })
    } catch (error) {
      claimed.release()
      throw error
    }
  }

  #register(
    request: LeaseRequest,
    addresses: LeaseAddresses,
    ports: LeasePorts | undefined,
    reservation: PreparedReservation,
    grant: LeaseGrant | undefined,
  ): Lease {
    const { name, address } = request.identity
    const previous = this.#leases.get(keyOf(request))?.value
    this.#requireRoom(request, addresses.clientIp, previous)
    if (previous !== undefined && grant !== undefined && previous.sequence > grant.sequence)
      throw new RelayError('lease_not_found', 'the identity has registered again at another machine')
    if (previous !== undefined) this.end(previous, 'replaced')
    const { hostname } = grant ?? reservation
    this.#sequence = grant?.sequence ?? this.#sequence + 1
    const lease = new Lease({
      ...grant,
      sequence: this.#sequence,
      portHost: this.#portHost(),
      identity: request.identity,
      hostname,
      canonicalHostname: this.#routes.hostname(canonicalLabel(name, address)),
      metadata: request.metadata,
      ttlS: request.ttlS,
      firstSeenAt: previous?.firstSeenAt ?? now(),
      ...addresses,
      ports,
      preferences: request.preferences,
    })
    reservation.confirm(hostname)
    this.#publish(lease)
    return lease
  }

  /**
   * Applies another machine's report of a lease: registers or extends it here, and replaces an older one of its
   * identity. A report that is older than the local state changes nothing.
   */
  apply(shared: SharedLease): void {
    const { identity, expiresAt, ports } = shared
    // The identity determines the hostnames, whatever the report says.
    const hostname = shared.hostname === '' ? '' : this.#routes.hostname(identity.name)
    const known = this.#leases.get(keyOf(shared))
    const isSame = known?.value.id === shared.id
    if (this.#isClosed || (known !== undefined && !isSame && known.value.sequence >= shared.sequence)) return
    if (expiresAt <= now()) return
    if (isSame) this.#applyRenewal(known, shared)
    else {
      if (known !== undefined) this.end(known.value, 'replaced')
      const canonicalHostname = this.#routes.hostname(canonicalLabel(identity.name, identity.address))
      this.#publish(new Lease({ ...shared, hostname, canonicalHostname, ttlS: 0 }))
    }
    const network = networkOf(shared.clientIp)
    const { awayPage } = shared.preferences
    this.#reservations.apply(keyOf(shared), { hostname, expiresAt, ports, network, awayPage })
  }

  #applyRenewal(entry: ExpiryEntry<Lease>, shared: SharedLease): void {
    const lease = entry.value
    this.lead(lease, shared.domains ?? NO_DOMAINS)
    // The clocks of machines differ by some milliseconds, so that the later of two quick renewals may end earlier here.
    if (timeOf(shared.statement) > timeOf(lease.statement)) lease.statement = shared.statement
    if (shared.expiresAt <= lease.expiresAt) return
    lease.extendTo(shared.expiresAt, shared.lastSeenAt)
    this.#expiries.move(entry, lease.expiresAt)
    lease.clientIp = shared.clientIp
    lease.reportedIp = shared.reportedIp
    lease.metadata = shared.metadata
    lease.statement = shared.statement
    this.#metadata.set(lease)
    this.#changed(lease)
  }

  #publish(lease: Lease): void {
    this.#metadata.set(lease)
    this.#leases.set(keyOf(lease), this.#expiries.add(lease, lease.expiresAt))
    this.#perNetwork.add(lease.registeredFrom, 1)
    this.#inOrder = undefined
    for (const hostname of lease.hostnames) this.#routes.publish(hostname, lease.route)
    const { domains } = lease
    lease.domains = NO_DOMAINS
    this.#setDomains(lease, domains)
    this.#changed(lease)
  }

  /**
   * Leads custom domains to a lease, and those that it had before and that are not among them no longer. A domain that leads to another
   * lease stays there unless it was proven later for this one.
   * @param domains an older state than the present one changes nothing
   */
  lead(lease: Lease, domains: LeaseDomains): void {
    if (this.#entry(lease) === undefined || domains.changedAt <= lease.domains.changedAt) return
    this.#setDomains(lease, domains)
    this.#changed(lease)
  }

  #setDomains(lease: Lease, { changedAt, proven }: LeaseDomains): void {
    const given = proven.filter((domain) => this.#takeDomain(lease, domain))
    for (const { domain } of lease.domains.proven)
      if (!given.some((one) => one.domain === domain)) this.#routes.withdraw(domain, lease.route)
    lease.setDomains({ changedAt, proven: given })
  }

  /** @returns false when the domain is another's */
  #takeDomain(lease: Lease, { domain, provenAt }: ProvenDomain): boolean {
    const published = this.#routes.publishedAt(domain)
    if (published === lease.route) return true
    if (published !== undefined) {
      const other = published.to === 'lease' ? published.lease : undefined
      const before = other?.provenAt(domain)
      if (other === undefined || before === undefined) return false
      // Machines that hear of both in another order must decide alike.
      const isLater = provenAt === before ? lease.identityKey > other.identityKey : provenAt > before
      if (!isLater) return false
      const proven = other.domains.proven.filter((one) => one.domain !== domain)
      this.#routes.publish(domain, lease.route)
      // A later state, or a machine that knows only the one before would keep it.
      other.setDomains({ changedAt: other.domains.changedAt + 1, proven })
      this.#changed(other)
      return true
    }
    this.#routes.publish(domain, lease.route)
    return true
  }

  renew(lease: Lease, ttlS: number, metadata: LeaseMetadata | undefined, addresses: LeaseAddresses): void {
    const entry = this.#entry(lease)
    if (entry === undefined) throw new RelayError('lease_not_found', 'the lease has ended')
    if (metadata !== undefined) this.requireRoomFor(metadata, addresses.clientIp, lease)
    lease.extend(ttlS)
    this.#expiries.move(entry, lease.expiresAt)
    lease.clientIp = addresses.clientIp
    lease.reportedIp = addresses.reportedIp ?? lease.reportedIp
    if (metadata !== undefined) lease.metadata = metadata
    this.#metadata.set(lease)
    this.#reserve(lease)
    this.#changed(lease)
  }

  /** The lease that `id` names, when it is the active instance of its identity. */
  find(identity: Identity, id: string): Lease | undefined {
    const lease = this.#leases.get(identityKey(identity.name, identity.address))?.value
    return lease?.id === id ? lease : undefined
  }

  /** The active lease of an identity. */
  ofIdentity(key: string): Lease | undefined {
    return this.#leases.get(key)?.value
  }

  /** The active lease that is published at a hostname. */
  at(hostname: string): Lease | undefined {
    const route = this.#routes.publishedAt(hostname)
    return route?.to === 'lease' ? route.lease : undefined
  }

  /**
   * Returns the address of the identity that has a name, by a lease or, for a while, by one that ended; undefined when
   * the operator pinned the name to another identity meanwhile.
   * @param name normalized
   */
  ownerOf(name: string): string | undefined {
    const hostname = this.#routes.hostname(name)
    const key = this.at(hostname)?.identityKey ?? this.#reservations.ownerOf(hostname)
    const address = key?.slice(key.lastIndexOf(':') + 1)
    const pinned = this.#names.pinnedTo(name)
    return pinned === undefined || pinned === address ? address : undefined
  }

  /**
   * Keeps the friendly hostname with the identity until a certificate for it, issued or about to be, expires.
   * @throws RelayError `rate_limited` when too many names are kept
   */
  certify(lease: Lease, names: readonly string[], until: number): void {
    if (!names.includes(lease.hostname)) return
    if (!this.#reservations.mayCertify(lease.identityKey))
      throw new RelayError('rate_limited', 'this relay keeps no more names for sites with certificates')
    // Whole hours, so that repeated requests of a site cause no new writes.
    const end = Math.ceil(until / CERTIFIED_STEP_MS) * CERTIFIED_STEP_MS
    this.#reservations.certify(lease.identityKey, lease.hostname, end)
  }

  /** Whether another identity has the friendly hostname of this one, by a lease or, unless it is pinned, by one that ended a while ago. */
  isTaken({ name, address }: Identity): boolean {
    const hostname = this.#routes.hostname(name)
    const key = identityKey(name, address)
    const lease = this.at(hostname)
    if (lease !== undefined) return lease.identityKey !== key
    const owner = this.#reservations.ownerOf(hostname)
    return owner !== undefined && owner !== key && !this.isPinnedTo({ name, address })
  }

  /**
   * Whether the friendly hostname of a lease that has ended still waits for its identity, and no certificate that the site
   * brought is valid for it.
   */
  isAwaited(lease: AwayLease): boolean {
    const { hostname, identityKey } = lease
    const isFree = hostname !== '' && this.at(hostname) === undefined && !this.hasLostName(lease)
    return isFree && this.#reservations.isKeptPlain(identityKey, hostname)
  }

  /** What is known of leases of before this process started that asked for an away page, and whose sites are away since. */
  *away(): Generator<AwayLease> {
    for (const [key, reservation] of this.#reservations.awayPages()) yield awayLease(key, reservation)
  }

  /** Keeps the name of a lease that ended before this machine heard of it. */
  applyEnd(key: string, reservation: Reservation): void {
    this.#reservations.restore(key, reservation)
    const { awayPage = false } = reservation
    for (const listener of this.#onAway) listener(awayLease(key, reservation), awayPage)
  }

  /** Whether the operator pinned its name to the identity: nobody else keeps the name without a lease. */
  isPinnedTo({ name, address }: Identity): boolean {
    return this.#names.pinnedTo(name) === address
  }

  /** Whether the operator pinned the lease's friendly name to another identity meanwhile. */
  hasLostName({ hostname, identity }: Pick<Lease, 'hostname' | 'identity'>): boolean {
    return hostname !== '' && (this.#names.pinnedTo(identity.name) ?? identity.address) !== identity.address
  }

  /** The other identity that had the lease's friendly hostname before, as far as the relay remembers. */
  formerOwner({ identityKey, hostname }: Lease): FormerOwner | undefined {
    return this.#reservations.formerOwner(identityKey, hostname)
  }

  end(lease: Lease, reason: LeaseEnd): void {
    const entry = this.#entry(lease)
    if (entry === undefined) return
    this.#expiries.remove(entry)
    this.#leases.delete(keyOf(lease))
    this.#perNetwork.add(lease.registeredFrom, -1)
    this.#metadata.release(lease)
    this.#inOrder = undefined
    for (const hostname of lease.hostnames) this.#routes.withdraw(hostname, lease.route)
    for (const { domain } of lease.domains.proven) this.#routes.withdraw(domain, lease.route)
    // A relay that shuts down keeps the reservations; a lease that replaces another takes its reservation over.
    if (reason === 'expired' || reason === 'unregistered') this.#reservations.release(keyOf(lease))
    lease.end(reason)
    this.#changed(lease)
  }

  /** Ends every lease and refuses new ones, since the relay shuts down. */
  close(): void {
    this.#isClosed = true
    for (const { value } of [...this.#leases.values()]) this.end(value, 'shutdown')
  }

  /** Leases registered after the one with that sequence, in order. */
  *after(sequence: number): Generator<Lease> {
    // Other machines may register leases in between.
    this.#inOrder ??= [...this].sort((one, other) => one.sequence - other.sequence)
    const leases = this.#inOrder
    let [low, high] = [0, leases.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((leases[middle]?.sequence ?? 0) > sequence) high = middle
      else low = middle + 1
    }
    for (let index = low; index < leases.length; index++) yield leases[index] as Lease
  }

  *[Symbol.iterator](): Iterator<Lease> {
    for (const { value } of this.#leases.values()) yield value
  }

  #entry(lease: Lease): ExpiryEntry<Lease> | undefined {
    const entry = this.#leases.get(keyOf(lease))
    return entry?.value === lease ? entry : undefined
  }

  /** @param previous the lease to be replaced, whose room is free again */
  #requireRoom({ metadata }: LeaseRequest, clientIp: string, previous: Lease | undefined): void {
    if (this.#isClosed) throw new RelayError('feature_unavailable', 'this relay is closing')
    const mayHave = this.#perNetwork.mayHave(
      1,
      networkOf(clientIp),
      LEASES_MAX - this.#leases.size,
      LEASES_MAX,
    )
    if (previous === undefined && !mayHave)
      throw new RelayError('feature_unavailable', 'this relay has no room for another lease')
    this.requireRoomFor(metadata, clientIp, previous)
  }

  #friendlyHostname(request: LeaseRequest, previous: Lease | undefined): string {
    const { name, address } = request.identity
    const hostname = this.#routes.hostname(name)
    const published = this.#routes.publishedAt(hostname)
    const holder = this.#reservations.holderOf(hostname)
    const owner = this.#names.pinnedTo(name)
    const isKept = owner === undefined ? this.#names.isReserved(name) : owner !== address
    const isOurs = holder === undefined || holder === identityKey(name, address) || owner === address
    if (!isKept && isOurs && (published === undefined || published === previous?.route)) return hostname
    if (request.allowCanonicalFallback) return ''
    const why = isKept
      ? `the name ${name} is reserved on this relay: choose another one`
      : `${hostname} belongs to another identity`
    throw new RelayError('hostname_conflict', why)
  }

  #changed(lease: Lease): void {
    for (const listener of this.#onChange) listener(lease)
  }

  #reserve(lease: Lease): void {
    const { hostname, expiresAt, ports, registeredFrom: network, preferences } = lease
    const { awayPage } = preferences
    this.#reservations.hold(keyOf(lease), { hostname, expiresAt, ports, network, awayPage })
  }
}

function keyOf({ identity }: { identity: Identity }): string {
  return identityKey(identity.name, identity.address)
}

function awayLease(identityKey: string, { hostname, network = '' }: Reservation): AwayLease {
  const colon = identityKey.lastIndexOf(':')
  const identity = { name: identityKey.slice(0, colon), address: identityKey.slice(colon + 1) }
  return { hostname, identity, identityKey, registeredFrom: network }
}

/** When the site issued a statement, in milliseconds since the epoch; 0 for none. */
function timeOf(statement: Lease['statement']): number {
  return statement === undefined ? 0 : Date.parse(statement.issued_at)
}
