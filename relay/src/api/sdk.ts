// The SDK endpoints: compatibility, challenge, register, renew, reverse, unregister.

import {
  AUDIENCE,
  type DomainResponse,
  LEASE_TTL_DEFAULT_S,
  LEASE_TTL_MAX_S,
  PATH,
  PROTOCOL_VERSION,
  type RegisterChallengeRequest,
  type RegisterChallengeResponse,
  type RegisterRequest,
  type RegisterResponse,
  type RenewRequest,
  type RenewResponse,
  type ReverseEndpoint,
  type ReverseEndpointRequest,
  type UnregisterRequest,
} from '@svc/protocol'
import { RelayError } from '../errors.ts'
import type { Challenges } from '../lease/challenges.ts'
import type { Credentials } from '../lease/credentials.ts'
import type { Lease } from '../lease/lease.ts'
import type { ClientAddresses, LeaseRegistry } from '../lease/registry.ts'
import { verifyProof } from '../lease/siwe.ts'
import type { Policy } from '../policy/policy.ts'

export interface SdkApiParts {
  leases: LeaseRegistry
  challenges: Challenges
  credentials: Credentials
  policy: Policy
  /** Authority of the relay's URL. */
  host: string
  relayAddress: string
  releaseVersion: string
}

export class SdkApi {
  readonly #parts: SdkApiParts

  constructor(parts: SdkApiParts) {
    this.#parts = parts
  }

  domain(): DomainResponse {
    return {
      protocol_version: PROTOCOL_VERSION,
      release_version: this.#parts.releaseVersion,
      ens: {
        enabled: false,
        verified: false,
        provider: '',
        address: this.#parts.relayAddress,
        dnssec_state: '',
        ds_record: '',
        message: '',
        last_error: '',
      },
      x402: { enabled: false, url: '', network: '', network_name: '', supported_url: '', pay_to: '' },
    }
  }

  challenge(request: RegisterChallengeRequest, source: string): RegisterChallengeResponse {
    this.#requireIpAllowed(source)
    requireOffered(request)
    const { id, expiresAt, message } = this.#parts.challenges.issue(
      {
        identity: request.identity,
        allowCanonicalFallback: request.allow_canonical_fallback ?? false,
        metadata: request.metadata ?? {},
        ttlS: ttlOf(request.ttl),
      },
      source,
    )
    return { challenge_id: id, expires_at: timestamp(expiresAt), siwe_message: message }
  }

  async register(request: RegisterRequest, source: string): Promise<RegisterResponse> {
    const challenge = this.#parts.challenges.take(request.challenge_id)
    if (challenge === undefined)
      throw new RelayError('unauthorized', 'challenge_id is unknown, used or expired')
    await verifyProof(challenge.message, challenge.request.identity.address, {
      message: request.siwe_message,
      signature: request.siwe_signature,
    })
    const addresses = this.#addresses(request, source)
    const lease = this.#parts.leases.register(challenge.request, addresses)
    return {
      identity: lease.identity,
      hostname: lease.hostname,
      canonical_hostname: lease.canonicalHostname,
      ...this.#credentials(lease),
      udp_enabled: false,
      tcp_enabled: false,
    }
  }

  renew(request: RenewRequest, source: string): RenewResponse {
    const lease = this.#leaseOf(request)
    const addresses = this.#addresses(request, source)
    this.#parts.leases.renew(lease, ttlOf(request.ttl), request.metadata, addresses)
    return this.#credentials(lease)
  }

  reverse(request: ReverseEndpointRequest): ReverseEndpoint {
    return this.#endpoint(this.#leaseOf(request))
  }

  unregister(request: UnregisterRequest): Record<string, never> {
    this.#parts.leases.end(this.#leaseOf(request), 'unregistered')
    return {}
  }

  /** @throws RelayError `ip_banned` for either address */
  #addresses({ reported_ip }: { reported_ip?: string | undefined }, clientIp: string): ClientAddresses {
    const reportedIp = reported_ip || undefined
    this.#requireIpAllowed(clientIp, reportedIp)
    return { clientIp, reportedIp }
  }

  #requireIpAllowed(...ips: (string | undefined)[]): void {
    if (this.#parts.policy.isAnyIpBanned(...ips))
      throw new RelayError('ip_banned', 'this address is banned here')
  }

  #leaseOf({ access_token }: { access_token: string }): Lease {
    return this.#parts.credentials.leaseOf(access_token, AUDIENCE.lease)
  }

  #credentials(lease: Lease): RenewResponse {
    return {
      expires_at: timestamp(lease.expiresAt),
      access_token: this.#parts.credentials.issue(lease, AUDIENCE.lease),
      reverse_endpoint: this.#endpoint(lease),
    }
  }

  #endpoint(lease: Lease): ReverseEndpoint {
    return {
      url: `https://${this.#parts.host}${PATH.connect}`,
      capability: this.#parts.credentials.issue(lease, AUDIENCE.reverse),
      expires_at: timestamp(lease.expiresAt),
      overlay: false,
    }
  }
}

/** What this relay cannot do is refused by name rather than silently left out. */
function requireOffered(request: RegisterChallengeRequest): void {
  if (request.cache && (request.udp_enabled || request.tcp_enabled))
    throw new RelayError('invalid_request', 'cache cannot be combined with raw TCP or UDP')
  if (request.udp_enabled) throw new RelayError('udp_disabled', 'UDP is not enabled on this relay')
  if (request.tcp_enabled)
    throw new RelayError('tcp_port_disabled', 'TCP ports are not enabled on this relay')
}

function ttlOf(ttl: number | undefined): number {
  if (ttl === undefined || ttl <= 0) return LEASE_TTL_DEFAULT_S
  if (ttl > LEASE_TTL_MAX_S) throw new RelayError('invalid_request', `ttl is at most ${LEASE_TTL_MAX_S} s`)
  return ttl
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}
