// Bodies of the control plane. Times are RFC 3339 strings; field names are those on the wire.

import type { Extension } from './extensions.ts'

/** An identity is a name and the address of a secp256k1 key. It holds leases. */
export interface Identity {
  /** DNS label used by the lease. */
  name: string
  /** Ethereum address, `0x` and 40 hexadecimal digits. */
  address: string
}

/** LeaseMetadata is what a site says of itself, for the relay's list of sites. */
export interface LeaseMetadata {
  description?: string | undefined
  owner?: string | undefined
  /** URL or data value. */
  thumbnail?: string | undefined
  tags?: string[] | undefined
  /** Left out of the public state. */
  hide?: boolean | undefined
}

/** DomainResponse is the answer to `GET /sdk/domain`: what the relay speaks and offers. */
export interface DomainResponse {
  protocol_version: string
  release_version: string
  /** What the relay can do beyond the protocol; of another relay it may be missing, or have words that are not known here. */
  extensions: readonly Extension[]
  /** Only while static caching is enabled. */
  cache?: StaticCacheLimits | undefined
  ens: EnsStatus
  x402: X402FacilitatorInfo
}

/** StaticCacheLimits bounds what a site may store at the relay. */
export interface StaticCacheLimits {
  /** Bytes of all files of one site together. */
  max_exposure_bytes: number
  /** Bytes of one file. */
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
  /** Seconds; non-positive means the default. */
  ttl?: number | undefined
  udp_enabled?: boolean | undefined
  tcp_enabled?: boolean | undefined
  cache?: boolean | undefined
  /** Seconds offline; 0 means the relay's policy. */
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
  /** 65-byte `personal_sign` signature, `0x` hexadecimal. */
  siwe_signature: string
  reported_ip?: string | undefined
}

/**
 * Whether visitors may reach a lease, by the relay's policy: they may, they may once its operator has approved the
 * identity, or they may not, because the identity or an address is banned or denied.
 */
export type Routing = 'allowed' | 'approval' | 'rejected'

/** A reverse endpoint says where an SDK opens reverse sessions, and with which capability. */
export interface ReverseEndpoint {
  /** HTTPS address of `/sdk/connect`. */
  url: string
  /** Opaque; for `/sdk/connect` only. */
  capability: string
  /** Never later than the lease's own expiry. */
  expires_at: string
  overlay: boolean
  /** Extension: as of this answer; a relay may leave it out. */
  routing?: Routing | undefined
}

/** RegisterResponse is the answer to a registration: the lease with its hostnames, tokens and ports. */
export interface RegisterResponse {
  identity: Identity
  /** Friendly hostname; empty when another identity owns it. */
  hostname: string
  /** Identity-bound hostname, always present. */
  canonical_hostname: string
  expires_at: string
  access_token: string
  reverse_endpoint: ReverseEndpoint
  udp_addr?: string | undefined
  tcp_addr?: string | undefined
  udp_enabled: boolean
  tcp_enabled: boolean
  /**
   * *Extension*, of a lease with UDP: the port of the relay's URL, where its datagram tunnel comes in. Older clients of the
   * protocol need it; others know the URL.
   */
  sni_port?: number | undefined
}

/** RenewRequest is the body of `POST /sdk/renew`. */
export interface RenewRequest {
  access_token: string
  ttl?: number | undefined
  reported_ip?: string | undefined
  metadata?: LeaseMetadata | undefined
  /** Extension: what the client believes to have; `transport_mismatch` when the lease is another one. */
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

/** One public lease, as in `GET /api/state`. */
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
  /** Ready reverse sessions. */
  ready: number
}

/** Whether work may be sent to a relay. */
export interface HealthResponse {
  /** `degraded`: who is here is served, but not all works. */
  status: 'ok' | 'degraded'
  /** *Extension*: what does not, in words. */
  message?: string | undefined
}

/**
 * Extension: an answer that would be too large has a part of the list, and the rest is asked for with `?after=<next>`.
 * What is there all the while is in one of the parts, and in no two of them.
 */
export interface Paged {
  /** Opaque; undefined at the end of the list. */
  next?: string | undefined
}

/** PublicStateResponse is the answer to `GET /api/state`: the leases that are not hidden. */
export interface PublicStateResponse extends Paged {
  leases: Lease[]
  landing_page_enabled: boolean
}

/** What an administrator sees of a lease. */
export interface PolicyLease extends Lease {
  /** Normalized `name:address`. */
  identity_key: string
  address: string
  /** Bytes per second; 0 means unlimited. */
  bps: number
  /** As the relay saw it. */
  client_ip: string
  /** As the client said, when it did. */
  reported_ip?: string | undefined
  /** Effective approval: explicit, or by the mode `auto`. */
  is_approved: boolean
  is_banned: boolean
  is_denied: boolean
  is_ip_banned: boolean
  /** *Extension*: the bans that meet its addresses, as {@link PolicyDecisionsResponse.banned_ips} has them. */
  ip_bans: string[]
}

/**
 * In mode `auto` the relay routes everybody who is not banned or denied, in mode `manual` only those who were
 * approved.
 */
export const APPROVAL_MODES = ['auto', 'manual'] as const
/** ApprovalMode is one of {@link APPROVAL_MODES}. */
export type ApprovalMode = (typeof APPROVAL_MODES)[number]

/** PolicyPortSettings say whether leases may have dedicated ports of one kind, and how many leases. */
export interface PolicyPortSettings {
  enabled: boolean
  /** 0 means unlimited. */
  max_leases: number
}

/** PolicySettings is the policy's settings, without the decisions about single identities and addresses. */
export interface PolicySettings {
  approval_mode: ApprovalMode
  landing_page_enabled: boolean
  udp: PolicyPortSettings
  tcp_port: PolicyPortSettings
  /** *Extension*: friendly names that nobody gets. An update without them leaves them as they are. */
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

/** Partial: what is absent stays as it is. */
export interface LeasePolicyUpdate {
  identity_key: string
  is_banned?: boolean | undefined
  is_approved?: boolean | undefined
  /** Setting it also revokes approval. */
  is_denied?: boolean | undefined
  /** Bytes per second; 0 removes the limit. */
  bps?: number | undefined
}

/** IpPolicyUpdate is the body of `POST /api/policy/ips`: a ban of an address, or its end. */
export interface IpPolicyUpdate {
  /** An address or, as an *extension*, a CIDR range. An IPv6 address means its /64. */
  ip: string
  is_banned: boolean
}

/** Extension: every decision that holds, also about identities and addresses that have no lease now. */
export interface PolicyDecisionsResponse extends Paged {
  /** Identity keys, as the two that follow. Those of mode `auto` are not among them: nobody decided. */
  approved: string[]
  denied: string[]
  banned: string[]
  banned_ips: string[]
  /** Identity key → bytes per second. */
  bps: Record<string, number>
}

interface Step<Kind extends string, Update> {
  kind: Kind
  made: Update
  /** What would take it back. */
  undo: Update
}

/** PolicyStep is what one request to the policy API changed. */
export type PolicyStep =
  | Step<'settings', PolicySettings>
  | Step<'lease', LeasePolicyUpdate>
  | Step<'ip', IpPolicyUpdate>

/** Extension: a change that was made by the API. */
export type PolicyChange = PolicyStep & {
  /** From 1 up, since the relay started. */
  id: number
  at: string
}

/** PolicyChangesResponse is the answer to `GET /api/policy/changes`. */
export interface PolicyChangesResponse {
  /** The newest first. */
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

/** Extension: what the relay carries now. The bytes are counted since it started. */
export interface AdminLoadResponse {
  leases: number
  /** Reverse sessions that wait for a visitor. */
  ready_sessions: number
  /** Open WebSockets and native sessions of tenants. */
  carriers: number
  visitor_connections: number
  visitor_received_bytes: number
  visitor_sent_bytes: number
}
