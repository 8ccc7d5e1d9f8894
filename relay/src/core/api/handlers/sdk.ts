// The SDK endpoints: compatibility, challenge, register, renew, reverse, unregister.

import {
  AUDIENCE,
  type CustomDomain,
  type DomainResponse,
  type EnsStatus,
  type Extension,
  type Identity,
  identityKey,
  LEASE_TTL_DEFAULT_S,
  LEASE_TTL_MAX_S,
  PATH,
  PROTOCOL_VERSION,
  type RegisterChallengeRequest,
  type RegisterChallengeResponse,
  type RegisterRequest,
  type RegisterResponse,
  type RelayDescriptor,
  type RenewRequest,
  type RenewResponse,
  type ReverseEndpoint,
  type ReverseEndpointRequest,
  type UnregisterRequest,
  type X402FacilitatorInfo,
} from '@svc/protocol'
import type { ChallengeStore } from '../../auth/challenges.ts'
import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import type { SignerRecovery } from '../../auth/signer-recovery.ts'
import { verifyProof } from '../../auth/siwe.ts'
import type { Delegation } from '../../auth/token-issuer.ts'
import { now } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import type { PortClaims } from '../../lease/lease-draft.ts'
import type { RequestedPorts } from '../../lease/lease-ports.ts'
import { preferencesOf } from '../../lease/lease-preferences.ts'
import type { LeaseRegistry } from '../../lease/lease-registry.ts'
import type { LeaseAddresses, LeaseRequest } from '../../lease/lease-request.ts'
import type { LeaseSharing } from '../../lease/lease-sharing.ts'
import type { Invitations } from '../../policy/invitations.ts'
import type { Policy } from '../../policy/policy.ts'
import type { RateLimits } from '../../rate-limit/client-rate-limits.ts'
import { timestamp } from '../http/timestamp.ts'

/** Extensions that every relay of this implementation has. */
const EXTENSIONS: readonly Extension[] = [
  'hello_retry_request',
  'sha384',
  'certificate_compression',
  'native_yamux',
  'visitor_address',
  'go',
]

/** The response of a relay without ENS names. */
const NO_ENS: Omit<EnsStatus, 'address'> = {
  enabled: false,
  verified: false,
  provider: '',
  dnssec_state: '',
  ds_record: '',
  message: '',
  last_error: '',
}
/** The response of a relay without a payment facilitator. */
const NO_PAYMENTS: X402FacilitatorInfo = {
  enabled: false,
  url: '',
  network: '',
  network_name: '',
  supported_url: '',
  pay_to: '',
}
const HTTPS_PORT = 443

/** The gateway of a lease. */
export interface ChosenGateway {
  /** Origin of its URL. */
  origin: string
  /** Signed by it. */
  descriptor: RelayDescriptor
  delegation: Delegation
}

export interface GatewayChoice {
  /** The gateway of the lease, which stays the same while it is available; undefined: the lease is direct. */
  of(lease: Lease): ChosenGateway | undefined
  /** Records that the SDK could not use an endpoint. @param url as the SDK sent it */
  failed(lease: Lease, url: string): void
}

/** The custom domains of leases. */
export interface CustomDomainStates {
  /** States of the domains that the lease's registration names, none of them if it names none. */
  of(lease: Lease): CustomDomain[]
  /** The same, and begins the look-ups that are due, without waiting for them. */
  ask(lease: Lease): CustomDomain[]
}

export interface SdkApiParts {
  leases: LeaseRegistry
  /** Registrations wait for it: it resolves when their state is on disk, and rejects when that cannot be written. */
  durable: () => Promise<void>
  /** Responses wait for it: it resolves when the change is in force in every process. */
  settled: () => Promise<void>
  /** The other machines of the relay; undefined on a single machine. */
  sharing?: LeaseSharing | undefined
  challenges: ChallengeStore
  recovery: SignerRecovery
  rateLimits: RateLimits
  credentials: LeaseCredentials
  policy: Policy
  invitations: Invitations
  ports: PortClaims
  /** Authority of the relay's URL. */
  host: string
  /** Authority for datagram tunnels, if it differs from the relay's. */
  tunnelAddress?: string | undefined
  /** Address of the relay's identity. */
  relayAddress: string
  /** What features add to `GET /sdk/domain`, asked for each request. */
  featuresOfDomain: () => Promise<Partial<DomainResponse>>
  /** Chooses gateways for leases that prefer them; undefined without the overlay. */
  gateways: GatewayChoice | undefined
  /** Undefined where the relay has no custom domains. */
  customDomains: CustomDomainStates | undefined
  /** Extensions that depend on the settings. */
  extensions: readonly Extension[]
  releaseVersion: string
}

export class SdkApi {
  readonly #parts: SdkApiParts

  constructor(parts: SdkApiParts) {
    this.#parts = parts
  }

  async domain(): Promise<DomainResponse> {
    const { releaseVersion, relayAddress, featuresOfDomain, extensions, policy } = this.#parts
    return {
      protocol_version: PROTOCOL_VERSION,
      release_version: releaseVersion,
      extensions: [...EXTENSIONS, ...extensions],
      ens: { ...NO_ENS, address: relayAddress },
      x402: NO_PAYMENTS,
      ...(policy.settings.approval_mode === 'token' && { invitation: true }),
      ...(await featuresOfDomain()),
    }
  }

  async challenge(request: RegisterChallengeRequest, source: string): Promise<RegisterChallengeResponse> {
    this.#requireIpAllowed(source)
    const invitation = await this.#parts.invitations.check(request.identity, request.invitation, source)
    const wanted = wantedPorts(request)
    this.#parts.ports.require(keyOf(request.identity), wanted)
    const { metadata = {} } = request
    this.#parts.leases.requireRoomFor(metadata, source)
    const { id, expiresAt, message } = await this.#parts.challenges.issue(
      {
        identity: request.identity,
        allowCanonicalFallback: request.allow_canonical_fallback ?? false,
        metadata,
        ttlS: ttlOf(request.ttl),
        wanted,
        invitation,
        preferences: preferencesOf(request),
      },
      source,
    )
    return { challenge_id: id, expires_at: timestamp(expiresAt), siwe_message: message }
  }

  async register(request: RegisterRequest, source: string): Promise<RegisterResponse> {
    const { recovery } = this.#parts
    recovery.requireRoom()
    const challenge = await this.#parts.challenges.take(request.challenge_id, source)
    if (challenge === undefined)
      throw new RelayError('unauthorized', 'challenge_id is unknown, used or expired')
    const proof = { message: request.siwe_message, signature: request.siwe_signature }
    const { message, request: requested } = challenge
    await verifyProof(message, requested.identity.address, proof, (...signed) => recovery.recover(...signed))
    const addresses = this.#addresses(request, source)
    const lease = await this.#register(requested, addresses).catch(async (error) => {
      // The client may try again, with another name or without a port.
      await this.#refund(source)
      throw error
    })
    await this.#settled(lease)
    return {
      identity: lease.identity,
      hostname: lease.hostname,
      canonical_hostname: lease.canonicalHostname,
      ...this.#credentials(lease),
      udp_addr: lease.addressOf('udp'),
      tcp_addr: lease.addressOf('tcp'),
      udp_enabled: lease.has('udp'),
      tcp_enabled: lease.has('tcp'),
      sni_port: lease.has('udp') ? portOf(this.#parts.host) : undefined,
      udp_tunnel_addr: lease.has('udp') ? this.#parts.tunnelAddress : undefined,
      previous_owner: this.#previousOwner(lease),
    }
  }

  #previousOwner(lease: Lease): RegisterResponse['previous_owner'] {
    const { until, certifiedUntil = 0 } = this.#parts.leases.formerOwner(lease) ?? {}
    if (until === undefined) return undefined
    const certified_until = certifiedUntil > now() ? timestamp(certifiedUntil) : undefined
    return { until: timestamp(until), certified_until }
  }

  async renew(request: RenewRequest, source: string): Promise<RenewResponse> {
    const lease = this.#leaseOf(request)
    requireTransports(lease, request)
    const addresses = this.#addresses(request, source)
    const ttlS = ttlOf(request.ttl)
    // Listeners of the renewal read it. A refused renewal does no harm, since the site did sign the statement.
    lease.statement = request.statement ?? lease.statement
    const { leases, policy } = this.#parts
    // The site registers again, with what it has.
    if (leases.hasLostName(lease) || policy.isUninvited(lease.identityKey)) {
      await this.#end(lease)
      const why = 'the operator changed who may register its name'
      throw new RelayError('lease_not_found', `the lease has ended: ${why}`)
    }
    leases.renew(lease, ttlS, request.metadata, addresses)
    await this.#parts.sharing?.renewed(lease)
    await this.#parts.settled()
    return this.#credentials(lease)
  }

  reverse(request: ReverseEndpointRequest, source: string): ReverseEndpoint {
    this.#requireIpAllowed(source)
    const lease = this.#leaseOf(request)
    if (request.failed_url !== undefined) this.#parts.gateways?.failed(lease, request.failed_url)
    return this.#endpoint(lease)
  }

  async unregister(request: UnregisterRequest, source: string): Promise<Record<string, never>> {
    const lease = this.#leaseOf(request)
    await this.#end(lease)
    await this.#refund(source)
    return {}
  }

  async #end(lease: Lease): Promise<void> {
    this.#parts.leases.end(lease, 'unregistered')
    await this.#parts.sharing?.ended(lease)
    await this.#settled(lease)
  }

  /**
   * The ports come first, since a replacing lease takes them over while they are open. Then everything is written, and
   * only then does the lease take effect, so that a failed write changes nothing.
   */
  async #register(request: LeaseRequest, addresses: LeaseAddresses): Promise<Lease> {
    const { ports, leases, durable, sharing, invitations } = this.#parts
    const claimed = await ports.claim(keyOf(request.identity), request.wanted ?? {})
    const draft = leases.draft(request, addresses, claimed)
    let unuse = async (): Promise<void> => {}
    try {
      unuse = await invitations.use(request)
      await durable()
      return draft.commit(await sharing?.register(request, draft))
    } catch (error) {
      draft.abort()
      // Another request of the identity may have registered it meanwhile.
      if (leases.ofIdentity(keyOf(request.identity)) === undefined) await unuse().catch(() => {})
      throw error
    }
  }

  /** Refunds a registration to the network of a client that has proved its identity. */
  async #refund(source: string): Promise<void> {
    if (this.#parts.rateLimits.refundRegistration(source)) await this.#parts.challenges.refund?.(source)
  }

  /** Resolves when all processes and machines know of a lease that was registered or has ended. */
  async #settled(lease: Lease): Promise<void> {
    await Promise.all([this.#parts.settled(), this.#parts.sharing?.settled(lease)])
  }

  /** @throws RelayError `ip_banned` for either address */
  #addresses({ reported_ip }: { reported_ip?: string | undefined }, clientIp: string): LeaseAddresses {
    const reportedIp = reported_ip || undefined
    this.#requireIpAllowed(clientIp, reportedIp)
    return { clientIp, reportedIp }
  }

  #requireIpAllowed(...ips: (string | undefined)[]): void {
    if (this.#parts.policy.isAnyIpBanned(...ips))
      throw new RelayError('ip_banned', 'this address is banned here')
  }

  #leaseOf({ access_token }: { access_token: string }): Lease {
    return this.#parts.credentials.leaseOf(access_token, 'lease')
  }

  #credentials(lease: Lease): RenewResponse {
    const hasDomains = lease.preferences.domains.length > 0
    return {
      expires_at: timestamp(lease.expiresAt),
      access_token: this.#parts.credentials.issue(lease, AUDIENCE.lease),
      reverse_endpoint: this.#endpoint(lease),
      domains: hasDomains ? this.#parts.customDomains?.ask(lease) : undefined,
    }
  }

  #endpoint(lease: Lease): ReverseEndpoint {
    const { host, credentials, gateways } = this.#parts
    const chosen = lease.preferences.overlay ? gateways?.of(lease) : undefined
    const endpoint =
      chosen === undefined
        ? {
            url: `https://${host}${PATH.connect}`,
            capability: credentials.issue(lease, AUDIENCE.reverse),
            overlay: false,
          }
        : {
            url: `${chosen.origin}${PATH.connect}`,
            capability: credentials.delegate(lease, chosen.delegation),
            overlay: true,
            gateway: chosen.descriptor,
          }
    return {
      ...endpoint,
      expires_at: timestamp(lease.expiresAt),
      routing: this.#parts.policy.routing(lease),
    }
  }
}

function keyOf({ name, address }: Identity): string {
  return identityKey(name, address)
}

/** Dedicated ports are not a preference: a relay that cannot provide them refuses. */
function wantedPorts(request: RegisterChallengeRequest): RequestedPorts {
  const { cache, udp_enabled: udp = false, tcp_enabled: tcp = false } = request
  if (cache && (udp || tcp))
    throw new RelayError('invalid_request', 'cache cannot be combined with raw TCP or UDP')
  return { udp, tcp }
}

/** Refuses a client whose claimed transports differ from those of its lease. */
function requireTransports(lease: Lease, { udp_enabled, tcp_enabled }: RenewRequest): void {
  if ((udp_enabled ?? lease.has('udp')) !== lease.has('udp'))
    throw new RelayError('transport_mismatch', `the lease has ${lease.has('udp') ? 'a' : 'no'} UDP port`)
  if ((tcp_enabled ?? lease.has('tcp')) !== lease.has('tcp'))
    throw new RelayError('transport_mismatch', `the lease has ${lease.has('tcp') ? 'a' : 'no'} TCP port`)
}

function ttlOf(ttl: number | undefined): number {
  if (ttl === undefined || ttl <= 0) return LEASE_TTL_DEFAULT_S
  if (ttl > LEASE_TTL_MAX_S) throw new RelayError('invalid_request', `ttl is at most ${LEASE_TTL_MAX_S} s`)
  return ttl
}

/** @param host with its port, when that is not 443 */
function portOf(host: string): number {
  return Number(new URL(`https://${host}`).port) || HTTPS_PORT
}
