// The bodies of the control plane. Times are RFC 3339 strings, and field names are those on the wire.

import type { Extension } from './extensions.ts'

/** An identity is a name and the address of a secp256k1 key. It holds leases. */
export interface Identity {
  /** The DNS label that the lease uses. */
  name: string
  /** The Ethereum address: `0x` and 40 hexadecimal digits. */
  address: string
}

/** LeaseMetadata is what a site says of itself, for the relay's list of sites. */
export interface LeaseMetadata {
  description?: string | undefined
  owner?: string | undefined
  /** A URL or a data URL. */
  thumbnail?: string | undefined
  tags?: string[] | undefined
  /** Keeps the lease out of the public state. */
  hide?: boolean | undefined
}

/** DomainResponse is the answer to `GET /sdk/domain`: what the relay speaks and offers. */
export interface DomainResponse {
  protocol_version: string
  release_version: string
  /** The relay's extensions. Another implementation may leave the field out, or have words that are not known here. */
  extensions: readonly Extension[]
  /** Present only while static caching is enabled. */
  cache?: StaticCacheLimits | undefined
  ens: EnsStatus
  x402: X402FacilitatorInfo
}

/** StaticCacheLimits bounds what a site may store at the relay. */
export interface StaticCacheLimits {
  /** The bytes that all files of one site may have together. */
  max_exposure_bytes: number
  /** The bytes that one file may have. */
  max_object_size: number
}

/** EnsStatus describes the relay's ENS automation. `verified` is a diagnostic and no proof of a resolution. */
export interface EnsStatus {
  enabled: boolean
  verified: boolean
  provider: string
  address: string
  dnssec_state: string
  ds_record: string
  message: string
  last_error: string
}

/** X402FacilitatorInfo describes the relay's payment facilitator. */
export interface X402FacilitatorInfo {
  enabled: boolean
  url: string
  network: string
  network_name: string
  supported_url: string
  pay_to: string
}

/** RegisterChallengeRequest is the body of `POST /sdk/register/challenge`: it says who wants which lease. */
export interface RegisterChallengeRequest {
  identity: Identity
  allow_canonical_fallback?: boolean | undefined
  metadata?: LeaseMetadata | undefined
  overlay?: boolean | undefined
  /** The time to live in seconds. Zero or less means the default. */
  ttl?: number | undefined
  udp_enabled?: boolean | undefined
  tcp_enabled?: boolean | undefined
  cache?: boolean | undefined
  /** The seconds for which the relay serves the cached site while it is offline. 0 means the relay's policy. */
  cache_ttl?: number | undefined
}

/** RegisterChallengeResponse is the answer to it: the message to be signed. */
export interface RegisterChallengeResponse {
  challenge_id: string
  expires_at: string
  siwe_message: string
}

/** RegisterRequest is the body of `POST /sdk/register`: the challenge and its signature. */
export interface RegisterRequest {
  challenge_id: string
  siwe_message: string
  /** The 65-byte `personal_sign` signature as `0x` hexadecimal. */
  siwe_signature: string
  reported_ip?: string | undefined
}

/**
 * Routing says whether the relay's policy lets visitors reach a lease: it does, it will once its operator has approved
 * the identity, or it does not, because the identity or an address is banned or denied.
 */
export type Routing = 'allowed' | 'approval' | 'rejected'

/** A reverse endpoint says where an SDK opens reverse sessions, and with which capability. */
export interface ReverseEndpoint {
  /** The HTTPS URL of `/sdk/connect`. */
  url: string
  /** The reverse capability, which is opaque and only for `/sdk/connect`. */
  capability: string
  /** The expiry, never later than the lease's own. */
  expires_at: string
  overlay: boolean
  /** *Extension*: the routing at the time of this answer. A relay may leave it out. */
  routing?: Routing | undefined
}

/** RegisterResponse is the answer to a registration: the lease with its hostnames, tokens and ports. */
export interface RegisterResponse {
  identity: Identity
  /** The friendly hostname. It is empty when another identity owns it. */
  hostname: string
  /** The canonical hostname, which is always present. */
  canonical_hostname: string
  expires_at: string
  access_token: string
  reverse_endpoint: ReverseEndpoint
  udp_addr?: string | undefined
  tcp_addr?: string | undefined
  udp_enabled: boolean
  tcp_enabled: boolean
  /**
   * *Extension*, of a lease with UDP: the port of the relay's URL, which also accepts its datagram tunnel. Older
   * clients of the protocol need it. Others know the URL.
   */
  sni_port?: number | undefined
}

/** RenewRequest is the body of `POST /sdk/renew`. */
export interface RenewRequest {
  access_token: string
  ttl?: number | undefined
  reported_ip?: string | undefined
  metadata?: LeaseMetadata | undefined
  /**
   * *Extension*: whether the client believes to have UDP. The relay answers `transport_mismatch` when the lease
   * differs.
   */
  udp_enabled?: boolean | undefined
  tcp_enabled?: boolean | undefined
}

/** RenewResponse is the answer to a renewal: the new expiry and fresh credentials. */
export interface RenewResponse {
  expires_at: string
  access_token: string
  reverse_endpoint: ReverseEndpoint
}

/** ReverseEndpointRequest is the body of `POST /sdk/reverse`, which asks for another reverse endpoint. */
export interface ReverseEndpointRequest {
  access_token: string
  failed_url?: string | undefined
}

/** UnregisterRequest is the body of `POST /sdk/unregister`. */
export interface UnregisterRequest {
  access_token: string
}

/** A Lease is one public lease, as in `GET /api/state`. */
export interface Lease {
  name: string
  expires_at: string
  first_seen_at: string
  last_seen_at: string
  hostname: string
  udp_enabled: boolean
  tcp_enabled: boolean
  tcp_addr?: string | undefined
  metadata: LeaseMetadata
  /** The number of ready reverse sessions. */
  ready: number
}

/** HealthResponse says whether a relay can take work. */
export interface HealthResponse {
  /** With `degraded` the relay serves its visitors, but has a fault. */
  status: 'ok' | 'degraded'
  /** *Extension*: the fault, in words. */
  message?: string | undefined
}

/**
 * *Extension*: an answer that would be too large has a part of the list, and the client gets the rest with
 * `?after=<next>`. An entry that exists all the while is in exactly one of the parts.
 */
export interface Paged {
  /** The opaque start of the next part. Undefined at the end of the list. */
  next?: string | undefined
}

/** PublicStateResponse is the answer to `GET /api/state`: the leases that are not hidden. */
export interface PublicStateResponse extends Paged {
  leases: Lease[]
  landing_page_enabled: boolean
}

/** PolicyLease is a lease as an administrator sees it. */
export interface PolicyLease extends Lease {
  /** The identity key: `name:address`, normalized. */
  identity_key: string
  address: string
  /** The limit in bytes per second. 0 means none. */
  bps: number
  /** The client address as the relay saw it. */
  client_ip: string
  /** The address that the client reported, when it did. */
  reported_ip?: string | undefined
  /** The effective approval: explicit, or by the mode `auto`. */
  is_approved: boolean
  is_banned: boolean
  is_denied: boolean
  is_ip_banned: boolean
  /** *Extension*: the bans that match its addresses, as {@link PolicyDecisionsResponse.banned_ips} has them. */
  ip_bans: string[]
}

/**
 * APPROVAL_MODES are the modes of approval. In mode `auto` the relay routes each identity that is not banned or denied,
 * in mode `manual` only approved ones.
 */
export const APPROVAL_MODES = ['auto', 'manual'] as const
/** ApprovalMode is one of {@link APPROVAL_MODES}. */
export type ApprovalMode = (typeof APPROVAL_MODES)[number]

/** PolicyPortSettings say whether leases may have dedicated ports of one kind, and how many leases. */
export interface PolicyPortSettings {
  enabled: boolean
  /** The number of leases. 0 means no limit. */
  max_leases: number
}

/** PolicySettings is the policy's settings, without the decisions about single identities and addresses. */
export interface PolicySettings {
  approval_mode: ApprovalMode
  landing_page_enabled: boolean
  udp: PolicyPortSettings
  tcp_port: PolicyPortSettings
  /** *Extension*: friendly names that no identity gets. An update without them leaves them as they are. */
  reserved_names?: string[] | undefined
}

/**
 * PolicyStateResponse is the answer to `GET /api/policy/state`: the settings, and every lease with the decisions that
 * hold for it.
 */
export interface PolicyStateResponse extends Paged {
  policy: PolicySettings
  leases: PolicyLease[]
}

/** LeasePolicyUpdate changes decisions about an identity. An absent field stays as it is. */
export interface LeasePolicyUpdate {
  identity_key: string
  is_banned?: boolean | undefined
  is_approved?: boolean | undefined
  /** Denies the identity, which also revokes its approval. */
  is_denied?: boolean | undefined
  /** The limit in bytes per second. 0 removes it. */
  bps?: number | undefined
}

/** IpPolicyUpdate is the body of `POST /api/policy/ips`: a ban of an address, or its end. */
export interface IpPolicyUpdate {
  /** An address or, as an *extension*, a CIDR range. An IPv6 address stands for its /64. */
  ip: string
  is_banned: boolean
}

/**
 * *Extension*: PolicyDecisionsResponse has every current decision, also about identities and addresses without a lease.
 */
export interface PolicyDecisionsResponse extends Paged {
  /**
   * The approved identity keys, as in the two lists that follow. Approvals by mode `auto` are not decisions, and not
   * listed.
   */
  approved: string[]
  denied: string[]
  banned: string[]
  banned_ips: string[]
  /** Maps each identity key to bytes per second. */
  bps: Record<string, number>
}

interface Step<Kind extends string, Update> {
  kind: Kind
  made: Update
  /** The update that takes this one back. */
  undo: Update
}

/** PolicyStep is what one request to the policy API changed. */
export type PolicyStep =
  | Step<'settings', PolicySettings>
  | Step<'lease', LeasePolicyUpdate>
  | Step<'ip', IpPolicyUpdate>

/** *Extension*: a PolicyChange is a change that was made through the API. */
export type PolicyChange = PolicyStep & {
  /** The number of the change, from 1 up since the relay started. */
  id: number
  at: string
}

/** PolicyChangesResponse is the answer to `GET /api/policy/changes`. */
export interface PolicyChangesResponse {
  /** The changes, newest first. */
  changes: PolicyChange[]
}

/** AdminAuthLoginRequest is the body of `POST /api/admin/auth/login`. */
export interface AdminAuthLoginRequest {
  token: string
}

/** AdminAuthLoginResponse is the answer to a login: the admin token, which is the bearer of every other request. */
export interface AdminAuthLoginResponse {
  access_token: string
}

/**
 * AdminAuthStatusResponse is the answer to `GET /api/admin/auth/status`: it says whether the request had the admin
 * token.
 */
export interface AdminAuthStatusResponse {
  authenticated: boolean
}

/** *Extension*: AdminLoadResponse is the relay's current load. Bytes are counted since it started. */
export interface AdminLoadResponse {
  leases: number
  /** The number of reverse sessions that wait for a visitor. */
  ready_sessions: number
  /** The number of open WebSockets and native sessions of tenants. */
  carriers: number
  visitor_connections: number
  visitor_received_bytes: number
  visitor_sent_bytes: number
}
