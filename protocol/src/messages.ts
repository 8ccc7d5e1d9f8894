// The bodies of the control plane (docs/protocol.md). Times are RFC 3339 strings, and field names are those on the wire.

import type { CustomDomain } from './custom-domains.ts'
import type { RelayDescriptor } from './discovery.ts'
import type { Extension } from './extensions.ts'
import type { SiteStatement } from './site-statement.ts'

/** An identity is a name and the address of a secp256k1 key. It holds leases. */
export interface Identity {
  /**
   * The lease name: one DNS label of at most {@link LEASE_NAME_MAX_CHARS} characters. A relay accepts any letter case, and
   * answers with the normalized one.
   */
  name: string
  /** The Ethereum address: `0x` and 40 hexadecimal digits, in lower case when a relay wrote it. */
  address: string
}

/** LeaseMetadata is a site's description of itself, for the relay's list of sites. The relay does not verify it. */
export interface LeaseMetadata {
  /** A text of at most {@link METADATA_DESCRIPTION_MAX_CHARS} UTF-16 code units. */
  description?: string | undefined
  /** The person or organization that runs the site, in at most {@link METADATA_OWNER_MAX_CHARS} UTF-16 code units. */
  owner?: string | undefined
  /** An `http:` or `https:` URL, or an image as a data URL, of at most {@link METADATA_THUMBNAIL_MAX_CHARS} code units. */
  thumbnail?: string | undefined
  /** At most {@link METADATA_TAGS_MAX} tags, each of at most {@link METADATA_TAG_MAX_CHARS} code units. */
  tags?: string[] | undefined
  /**
   * Keeps the lease out of the public state.
   * @default false
   */
  hide?: boolean | undefined
}

/** DomainResponse is the answer to `GET /sdk/domain`: the relay's versions and features. */
export interface DomainResponse {
  /** The {@link PROTOCOL_VERSION} of the relay. */
  protocol_version: string
  /** The release of the relay's software. */
  release_version: string
  /** The relay's extensions. Another implementation may omit the field or list unknown ones. */
  extensions: readonly Extension[]
  /** Present only while static caching is enabled. */
  cache?: StaticCacheLimits | undefined
  /** *Extension*: true if the relay answers `GET /discovery`; otherwise omitted. */
  discovery?: boolean | undefined
  /** *Extension*: true while the relay lets nobody new register without an invitation; otherwise omitted. */
  invitation?: boolean | undefined
  /** *Extension*: true if the relay has downloads of the command `svc`, and so an installer; otherwise omitted. */
  downloads?: boolean | undefined
  ens: EnsStatus
  x402: X402FacilitatorInfo
}

/** StaticCacheLimits limits what a site may store at the relay. */
export interface StaticCacheLimits {
  /** The largest total size of a snapshot, in bytes. */
  max_exposure_bytes: number
  /** The largest size of one file, in bytes. */
  max_object_size: number
}

/** StaticCacheManifest lists the files of a snapshot: the body of `POST /sdk/cache`, and the first part of `PUT /sdk/cache`. */
export interface StaticCacheManifest {
  /** The path of the listed file that visitors get for `/`, and for an unknown path without an extension. */
  index: string
  /**
   * *Extension*: `false` if unknown paths do not get the index: the live site answers them, if it is online. A relay that does
   * not know the field sends the index.
   */
  fallback?: boolean | undefined
  /** Sorted by path, in the order of its bytes in UTF-8. */
  files: StaticCacheFile[]
}

/** StaticCacheFile is one file of a snapshot. */
export interface StaticCacheFile {
  /** Relative, with `/` between its segments, as in `assets/main.js`. */
  path: string
  /** The size in bytes. */
  size: number
  /** 64 hexadecimal digits, in lower case. */
  sha256: string
}

/** StaticCacheStatus says whether the relay stores a snapshot of the site: the answer to every request of `/sdk/cache`. */
export interface StaticCacheStatus {
  /** For `POST`: whether an unexpired snapshot with exactly this manifest exists. */
  present: boolean
  /** The expiry of the snapshot if the site is not renewed (RFC 3339). Only while one is present. */
  expires_at?: string | undefined
}

/** EnsStatus describes the relay's ENS automation. Unused texts are empty. */
export interface EnsStatus {
  /** Whether the automation is on, for a non-local domain. */
  enabled: boolean
  /** A diagnostic of the DNS provider, which does not prove that the name resolves. Always false for embedded DNS. */
  verified: boolean
  /** The DNS provider that has the records. */
  provider: string
  /** The ENS address of the base domain, normally that of the relay's identity. */
  address: string
  /** The state of DNSSEC, in the words of the provider. */
  dnssec_state: string
  /** The DS record that the operator may have to publish at the registrar. */
  ds_record: string
  /** The state, for people. */
  message: string
  /** The error of the last attempt of the automation. */
  last_error: string
}

/** X402FacilitatorInfo describes the relay's payment facilitator (docs/protocol.md §19). Its texts are empty while it is off. */
export interface X402FacilitatorInfo {
  enabled: boolean
  /** The URL of the facilitator. */
  url: string
  /** The network in the form of x402, such as `sui:mainnet`. */
  network: string
  /** The name of the network, for people. */
  network_name: string
  /** The URL that lists the supported kinds of payment. */
  supported_url: string
  /** The address of the recipient, in the form of the network. */
  pay_to: string
}

/** RegisterChallengeRequest is the body of `POST /sdk/register/challenge`: the identity and the wanted lease. */
export interface RegisterChallengeRequest {
  identity: Identity
  /**
   * Registers under the canonical hostname alone if another identity has the friendly one. Without it, the relay answers
   * `hostname_conflict`.
   * @default false
   */
  allow_canonical_fallback?: boolean | undefined
  /**
   * The site's own description of itself.
   * @default none
   */
  metadata?: LeaseMetadata | undefined
  /**
   * Prefers an endpoint in the overlay. A relay without an overlay returns its own.
   * @default false
   */
  overlay?: boolean | undefined
  /**
   * The time to live in seconds, a whole number of at most {@link LEASE_TTL_MAX_S}. Zero or less means the default.
   * @default 120
   */
  ttl?: number | undefined
  /**
   * Requires a dedicated UDP port; without one, the registration fails.
   * @default false
   */
  udp_enabled?: boolean | undefined
  /**
   * Requires a dedicated TCP port; without one, the registration fails.
   * @default false
   */
  tcp_enabled?: boolean | undefined
  /**
   * Permits the relay to store the site's files and to terminate TLS for them. It excludes dedicated ports.
   * @default false
   */
  cache?: boolean | undefined
  /**
   * The seconds for which the relay serves the cached site while it is offline, a whole number that the relay may reduce.
   * 0 means the relay's policy.
   * @default 0
   */
  cache_ttl?: number | undefined
  /**
   * *Extension*: lets the relay end TLS at the friendly hostname and answer 503 with a page while the site has no lease.
   * @default false
   */
  away_page?: boolean | undefined
  /**
   * *Extension*: the token of an invitation, for a relay that asks for one. The relay uses it up with the registration,
   * once for each name.
   * @default none
   */
  invitation?: string | undefined
  /**
   * The relay's extensions that the client will use, of those that change what the relay sends: `visitor_address`. The relay ignores
   * unknown ones.
   * @default none
   */
  extensions?: readonly string[] | undefined
  /**
   * *Extension* `custom_domains`: the site's own domains, at most {@link CUSTOM_DOMAINS_MAX}, as A-labels (IDNA) in lower case without
   * a dot at the end. None delays or fails the registration.
   * @default none
   */
  domains?: readonly string[] | undefined
}

/** RegisterChallengeResponse is the answer to it: the message to sign. */
export interface RegisterChallengeResponse {
  /** The id in the form of {@link CHALLENGE_ID}. */
  challenge_id: string
  /** The expiry of the challenge, {@link CHALLENGE_TTL_S} after its issue. */
  expires_at: string
  /** The text of {@link siweMessage}. The client checks it with {@link isSiweFor} before signing. */
  siwe_message: string
}

/** RegisterRequest is the body of `POST /sdk/register`: the challenge and its signature. */
export interface RegisterRequest {
  /** The challenge's id. It can be used once. */
  challenge_id: string
  /** The challenge's message, byte for byte. */
  siwe_message: string
  /** The 65-byte `personal_sign` signature (EIP-191) of the identity's key, as `0x` hexadecimal. */
  siwe_signature: string
  /**
   * The client's own view of its public IP address. Bans apply to it as to the address that the relay sees.
   * @default none
   */
  reported_ip?: string | undefined
}

/**
 * Routing says whether the relay's policy lets visitors reach a lease: it does, it will once the operator has approved
 * the identity, or it does not, because the identity or an address is banned or denied.
 */
export type Routing = 'allowed' | 'approval' | 'rejected'

/** A reverse endpoint says where an SDK opens reverse sessions, and with which capability. */
export interface ReverseEndpoint {
  /** The HTTPS URL of `/sdk/connect`, at the relay or, with `overlay`, at a gateway. */
  url: string
  /** The reverse capability, which is opaque and only for `/sdk/connect`. */
  capability: string
  /** The expiry of the capability, never later than the lease's own. */
  expires_at: string
  /** Whether the endpoint uses the overlay. A browser client refuses such an endpoint. */
  overlay: boolean
  /** The gateway's signed descriptor, for the address of `url`. Present when `overlay` is true. */
  gateway?: RelayDescriptor | undefined
  /** *Extension*: the routing at the time of this answer. A relay may leave it out. */
  routing?: Routing | undefined
}

/** RegisterResponse is the answer to a registration: the lease with its hostnames, tokens and ports. */
export interface RegisterResponse {
  /** The identity of the lease, normalized. */
  identity: Identity
  /** The friendly hostname. It is empty when another identity owns it. */
  hostname: string
  /** The canonical hostname, which is always present. */
  canonical_hostname: string
  /** The time at which the lease expires unless it is renewed. */
  expires_at: string
  /** The lease token, which expires with the lease. */
  access_token: string
  reverse_endpoint: ReverseEndpoint
  /** `host:port` of the dedicated UDP port, when the lease has one. */
  udp_addr?: string | undefined
  /** `host:port` of the dedicated TCP port, when the lease has one. */
  tcp_addr?: string | undefined
  /** Says whether the lease has a dedicated UDP port. */
  udp_enabled: boolean
  /** Says whether the lease has a dedicated TCP port. */
  tcp_enabled: boolean
  /**
   * *Extension*, for a lease with UDP: the port of the relay's URL, which also accepts its datagram tunnel. Older
   * clients need it; others know the URL.
   */
  sni_port?: number | undefined
  /**
   * *Extension*, for a lease with UDP: `host:port` for the QUIC tunnels of this lease, when that is not the relay's
   * authority: the machine that has the lease's UDP port. Its certificate is for the relay's hostname.
   */
  udp_tunnel_addr?: string | undefined
  /**
   * *Extension*: another identity had the friendly hostname before, as far as the relay remembers. Browsers that visited it keep the
   * name's cookies, storage and service workers.
   */
  previous_owner?: PreviousOwner | undefined
  /** *Extension* `custom_domains`: each requested domain, in that order. */
  domains?: CustomDomain[] | undefined
}

/** PreviousOwner informs the owner of a friendly hostname about the previous one. */
export interface PreviousOwner {
  /** The time at which that lease ended. */
  until: string
  /** The time, if in the future, until which the other identity may have a valid certificate for the hostname. */
  certified_until?: string | undefined
}

/** RenewRequest is the body of `POST /sdk/renew`, which moves the expiry of a lease. */
export interface RenewRequest {
  /** The lease token, of the registration or of a later renewal. */
  access_token: string
  /**
   * The time to live in seconds from now, as in {@link RegisterChallengeRequest}. Earlier values do not matter.
   * @default 120
   */
  ttl?: number | undefined
  /**
   * As in {@link RegisterRequest}.
   * @default the last one
   */
  reported_ip?: string | undefined
  /**
   * Replaces all metadata of the lease.
   * @default the lease keeps its own
   */
  metadata?: LeaseMetadata | undefined
  /**
   * *Extension*: whether the client expects to have UDP. The relay answers `transport_mismatch` when the lease
   * differs.
   */
  udp_enabled?: boolean | undefined
  /** *Extension*: the same for TCP. */
  tcp_enabled?: boolean | undefined
  /**
   * *Extension* `site_statement`: the site's statement that visitors reach it at this relay.
   * @default the lease keeps its own
   */
  statement?: SiteStatement | undefined
}

/** RenewResponse is the answer to a renewal: the new expiry and fresh credentials. */
export interface RenewResponse {
  /** The new expiry of the lease. */
  expires_at: string
  /** A new lease token, which expires with the lease. The earlier one stays valid until its own expiry. */
  access_token: string
  reverse_endpoint: ReverseEndpoint
  /** *Extension* `custom_domains`: as in {@link RegisterResponse}. */
  domains?: CustomDomain[] | undefined
}

/** *Extension* `custom_domains`: CustomDomainsRequest is the body of `POST /sdk/domains`, which tells the states soon. */
export interface CustomDomainsRequest {
  /** The lease token. */
  access_token: string
}

/** *Extension* `custom_domains`: CustomDomainsResponse is the answer, when no look-up of the lease's domains is under way any more. */
export interface CustomDomainsResponse {
  domains: CustomDomain[]
  /** The seconds after which the relay looks up what is pending again, when it is asked. Absent if nothing is pending. */
  retry_after?: number | undefined
}

/** ReverseEndpointRequest is the body of `POST /sdk/reverse`, which requests another reverse endpoint. */
export interface ReverseEndpointRequest {
  /** The lease token. */
  access_token: string
  /**
   * The URL of an endpoint that failed. The relay avoids it when it has another one.
   * @default none
   */
  failed_url?: string | undefined
}

/** UnregisterRequest is the body of `POST /sdk/unregister`, which ends a lease. */
export interface UnregisterRequest {
  /** The lease token. */
  access_token: string
}

/** *Extension* `site_certificate`: SiteCertificateRequest is the body of `POST /sdk/certificate`. */
export interface SiteCertificateRequest {
  /**
   * A PKCS #10 request (RFC 2986), DER in base64, of at most {@link CERTIFICATE_REQUEST_MAX_BYTES}. The key is ECDSA P-256
   * or P-384, or RSA of 2048 to 4096 bits. The subjectAltName names hostnames of the lease, and at least one.
   */
  csr: string
}

/** *Extension* `site_certificate`: SiteCertificate is the answer when there is a certificate. */
export interface SiteCertificate {
  /** The chain as PEM, leaf first. */
  chain: string
}

/** *Extension* `site_certificate`: SiteCertificatePending is the answer while the certificate is being issued. */
export interface SiteCertificatePending {
  /** The seconds after which the client repeats the same request. */
  retry_after: number
}

/** A Lease is one public lease, as in `GET /api/state`. */
export interface Lease {
  /** The normalized lease name. */
  name: string
  expires_at: string
  /** The time of the registration. A lease that replaces an active one of its identity keeps that one's time. */
  first_seen_at: string
  /** The time of the last registration or renewal. */
  last_seen_at: string
  /** The friendly hostname, or the canonical one of a lease without it. */
  hostname: string
  /** Says whether the lease has a dedicated UDP port. */
  udp_enabled: boolean
  /** Says whether the lease has a dedicated TCP port. */
  tcp_enabled: boolean
  /** `host:port` of the dedicated TCP port, when the lease has one. */
  tcp_addr?: string | undefined
  /** *Extension*: custom domains that lead to the site. Absent if there are none. */
  domains?: string[] | undefined
  /** Empty if the site sent none. */
  metadata: LeaseMetadata
  /** The number of ready reverse sessions. */
  ready: number
}

/** HealthResponse is the health of a relay. */
export interface HealthResponse {
  /** `degraded`: the relay serves its visitors, but has a problem. */
  status: 'ok' | 'degraded'
  /** *Extension*: the problem, as text. */
  message?: string | undefined
}

/**
 * *Extension*: an answer that would be too large has only a page of the list, and the client gets the rest with
 * `?after=<next>`. An entry that exists throughout is in exactly one page.
 */
export interface Paged {
  /** The opaque cursor of the next page. Undefined at the end of the list. */
  next?: string | undefined
}

/** PublicStateResponse is the answer to `GET /api/state`: the leases that the policy routes and that are not hidden. */
export interface PublicStateResponse extends Paged {
  leases: Lease[]
  /** Says whether the relay serves its landing page and its list of sites. */
  landing_page_enabled: boolean
}

/** PolicyLease is a lease as an administrator sees it. */
export interface PolicyLease extends Lease {
  /** The identity key: `name:address`, normalized. */
  identity_key: string
  /** The Ethereum address of the identity, normalized. */
  address: string
  /** The limit of the identity in bytes per second. 0 means none. */
  bps: number
  /** The client address of the last registration or renewal, as the relay saw it. */
  client_ip: string
  /** The address that the client reported, if any. */
  reported_ip?: string | undefined
  /** The effective approval: explicit, or by the mode `auto`. False for a denied identity. */
  is_approved: boolean
  /** Says whether the identity is banned. */
  is_banned: boolean
  /** Says whether the identity is denied. */
  is_denied: boolean
  /** Says whether `client_ip` or `reported_ip` is banned. */
  is_ip_banned: boolean
  /** *Extension*: the bans that match its addresses, in the form of {@link PolicyDecisionsResponse.banned_ips}. */
  ip_bans: string[]
  /** *Extension*: the custom domains of its registration, without their records. Absent if it names none. */
  custom_domains?: CustomDomain[] | undefined
  /** *Extension*: the traffic of its visitors. Absent if none came within the last day. */
  traffic?: LeaseTraffic | undefined
  /** *Extension*: what is known of the ban of its identity. Absent without a ban, and for one without details. */
  ban?: BanDetails | undefined
}

/** *Extension*: TrafficSum is what visitors transferred in one period. */
export interface TrafficSum {
  /** The bytes from visitors, including their handshakes. */
  received_bytes: number
  /** The bytes to visitors. */
  sent_bytes: number
  /** The number of connections that began: those over TCP, and flows over UDP. */
  connections: number
  /**
   * The number of different networks of visitors: IPv4 addresses and IPv6 /64s. It is an estimate, off by about 9 %. If the relay runs
   * on several machines, a network that came to two of them counts twice.
   */
  visitors: number
}

/** *Extension*: HourTraffic is the traffic of one hour. */
export interface HourTraffic extends TrafficSum {
  /** The beginning of the hour. */
  at: string
}

/** *Extension*: LeaseTraffic is the traffic of one lease's visitors, now and within a day. */
export interface LeaseTraffic {
  /** The number of open connections, and of flows over UDP. */
  open_connections: number
  /** Bytes per second from visitors, over the last ten seconds. */
  received_bps: number
  /** Bytes per second to visitors, over the last ten seconds. */
  sent_bps: number
  /** The current hour and the 23 before, as far as the relay has been running. */
  day: TrafficSum
}

/** *Extension*: RelayTraffic is the traffic of all visitors of a relay. */
export interface RelayTraffic extends LeaseTraffic {
  /** The hours of {@link LeaseTraffic.day}, the oldest first. */
  hours: HourTraffic[]
}

/** *Extension*: BanDetails say who made a ban, why, and until when it holds. Administrators alone see them. */
export interface BanDetails {
  /** What the administrator wrote, in at most {@link BAN_REASON_MAX_CHARS} UTF-16 code units. Absent if nothing. */
  reason?: string | undefined
  /** The time at which the ban ends by itself. Absent: it does not. */
  until?: string | undefined
  /** The time of the ban. */
  at: string
  /** The name of the administrator; `ADMIN_TOKEN` for who has that. */
  by: string
}

/** *Extension*: LeaseEvent is one moment in the life of an identity's leases, or a decision about the identity. */
export interface LeaseEvent {
  at: string
  kind: (typeof LEASE_EVENTS)[number]
  /** The administrator who decided. Absent when nobody did, as for a ban that ended by itself. */
  by?: string | undefined
  /** The client address, of a registration, of a request for approval and of a changed address. */
  client_ip?: string | undefined
  /** Why the lease ended. */
  end?: 'expired' | 'unregistered' | 'shutdown' | undefined
  /** The reason of a ban. */
  reason?: string | undefined
  /** The end of a ban. */
  until?: string | undefined
  /** The limit in bytes per second. */
  bps?: number | undefined
}

/** LEASE_EVENTS are the kinds of a {@link LeaseEvent}. */
export const LEASE_EVENTS = [
  'registered',
  /** Visitors cannot reach a lease until the operator approves its identity. */
  'approval_requested',
  /** A renewal came from another client address. */
  'address_changed',
  'ended',
  'approved',
  'approval_revoked',
  'denied',
  'denial_ended',
  'banned',
  'ban_ended',
  'limited',
  'limit_removed',
] as const

/** *Extension*: PolicyLeaseResponse is the answer to `GET /api/policy/lease`: all about one identity, with a lease or without. */
export interface PolicyLeaseResponse {
  /** The identity key, normalized. */
  identity_key: string
  /** Absent if the identity has no lease now. */
  lease?: PolicyLease | undefined
  /** As in {@link PolicyLease}. */
  is_approved: boolean
  is_banned: boolean
  is_denied: boolean
  bps: number
  ban?: BanDetails | undefined
  /** Also of a lease that ended within the last day. */
  traffic?: LeaseTraffic | undefined
  /** The current hour and the 23 before, the oldest first. */
  hours: HourTraffic[]
  /** The last events, newest first. The relay forgets them a day after the lease's end. */
  events: LeaseEvent[]
}

/**
 * APPROVAL_MODES are the modes of approval. In mode `auto` the relay routes each identity that is not banned or denied,
 * in mode `manual` only approved ones, and those with an invitation. *Extension*: in mode `token` the others cannot
 * even register.
 */
export const APPROVAL_MODES = ['auto', 'manual', 'token'] as const
/** ApprovalMode is one of {@link APPROVAL_MODES}. */
export type ApprovalMode = (typeof APPROVAL_MODES)[number]

/** PolicyPortSettings say whether leases may have dedicated ports of one kind, and how many leases. */
export interface PolicyPortSettings {
  /** Allows such ports, if the relay's own settings have a range for them. */
  enabled: boolean
  /** The number of leases with such a port. 0 means no limit. */
  max_leases: number
}

/**
 * PolicySettings is the policy's settings, without the decisions about single identities and addresses. A relay begins
 * with mode `auto`, its pages on, no limits of leases, and the ports that its own settings allow (docs/protocol.md §20.2).
 */
export interface PolicySettings {
  approval_mode: ApprovalMode
  /** Says whether the relay serves its landing page and its list of sites. */
  landing_page_enabled: boolean
  /** Dedicated UDP ports. */
  udp: PolicyPortSettings
  /** Dedicated TCP ports. */
  tcp_port: PolicyPortSettings
  /** *Extension*: friendly names that no identity may register, normalized. An update without them keeps them. */
  reserved_names?: string[] | undefined
}

/**
 * PolicyStateResponse is the answer to `GET /api/policy/state`: the settings, and every lease with the decisions
 * about it.
 */
export interface PolicyStateResponse extends Paged {
  policy: PolicySettings
  leases: PolicyLease[]
}

/** LeasePolicyUpdate changes decisions about an identity. An absent field is unchanged. */
export interface LeasePolicyUpdate {
  /** The identity key: `name:address`. The relay normalizes it. The identity need not have a lease. */
  identity_key: string
  /** Bans the identity, or ends the ban. */
  is_banned?: boolean | undefined
  /** Approves the identity, or revokes the approval. */
  is_approved?: boolean | undefined
  /** Denies the identity, which also revokes its approval, or ends the denial. */
  is_denied?: boolean | undefined
  /** The limit in bytes per second, TCP and UDP together. 0 removes it. */
  bps?: number | undefined
  /** *Extension*: why, of at most {@link BAN_REASON_MAX_CHARS} UTF-16 code units; only with `is_banned: true`. */
  reason?: string | undefined
  /** *Extension*: the time at which the ban ends by itself; only with `is_banned: true`. */
  until?: string | undefined
}

/** *Extension*: LeaseDecisions is the body of `POST /api/policy/leases/bulk`: the relay makes all of the decisions, or none. */
export interface LeaseDecisions {
  /** From one to {@link LEASE_DECISIONS_MAX}. */
  decisions: LeaseDecision[]
}

/** *Extension*: LeaseDecision is one of them, as in {@link LeasePolicyUpdate}. */
export type LeaseDecision = Omit<LeasePolicyUpdate, 'bps'>

/** IpPolicyUpdate is the body of `POST /api/policy/ips`: a ban of an address, or its end. */
export interface IpPolicyUpdate {
  /** An address or, as an *extension*, a CIDR range. An IPv6 address stands for its /64. */
  ip: string
  /** Bans the address, or ends the ban. */
  is_banned: boolean
  /** *Extension*: as in {@link LeasePolicyUpdate}. */
  reason?: string | undefined
  /** *Extension*: as in {@link LeasePolicyUpdate}. */
  until?: string | undefined
}

/** *Extension*: RelayPolicyUpdate is the body of `POST /api/policy/relays`: a ban of another relay from discovery, or its end. */
export interface RelayPolicyUpdate {
  /** The address of the relay's identity, or the origin of its URL. */
  relay: string
  /** Bans the relay, or ends the ban. */
  is_banned: boolean
  /** *Extension*: as in {@link LeasePolicyUpdate}. */
  reason?: string | undefined
  /** *Extension*: as in {@link LeasePolicyUpdate}. */
  until?: string | undefined
}

/** *Extension*: DomainPolicyUpdate is the body of `POST /api/policy/domains`: a ban of a custom domain and all below it, or its end. */
export interface DomainPolicyUpdate {
  /** The domain. The relay normalizes it. */
  domain: string
  /** Bans the domain, or ends the ban. */
  is_banned: boolean
  /** *Extension*: as in {@link LeasePolicyUpdate}. */
  reason?: string | undefined
  /** *Extension*: as in {@link LeasePolicyUpdate}. */
  until?: string | undefined
}

/** *Extension*: NamePolicyUpdate is the body of `POST /api/policy/names`: it pins a friendly name to an address, or unpins it. */
export interface NamePolicyUpdate {
  /** The friendly name. The relay normalizes it. */
  name: string
  /** The Ethereum address of the one identity that may register the name. Empty: anybody may again. */
  address: string
}

/** *Extension*: PinnedNamesResponse is the answer to `GET /api/policy/names`. */
export interface PinnedNamesResponse {
  /** Maps each pinned name to the address of its identity, both normalized. */
  pinned: Record<string, string>
}

/**
 * *Extension*: PolicyDecisionsResponse has every current decision, including those about identities and addresses without a lease.
 */
export interface PolicyDecisionsResponse extends Paged {
  /**
   * The approved identity keys. Approvals by mode `auto` are not decisions and are not
   * listed.
   */
  approved: string[]
  /** The denied identity keys. */
  denied: string[]
  /** The banned identity keys. */
  banned: string[]
  /** The banned addresses and CIDR ranges, normalized. */
  banned_ips: string[]
  /** The banned relays: addresses in lower case, and origins. */
  banned_relays: string[]
  /** The banned custom domains, each with all below it. */
  banned_domains: string[]
  /** Maps each identity key with a limit to bytes per second. */
  bps: Record<string, number>
  /** *Extension*: what is known of these bans, by the list that has them. */
  ban_details?: Record<BanList, Record<string, BanDetails>> | undefined
}

/** BanList names a list of {@link PolicyDecisionsResponse} with bans. */
export type BanList = 'banned' | 'banned_ips' | 'banned_relays' | 'banned_domains'

interface Step<Kind extends string, Update> {
  /** What was changed: the settings, an identity, an address, a relay or a name. */
  kind: Kind
  /** The update as the relay applied it, normalized. */
  made: Update
  /** The update that reverts this one. */
  undo: Update
}

/** PolicyStep is what one request to the policy API changed. */
export type PolicyStep =
  | Step<'settings', PolicySettings>
  | Step<'lease', LeasePolicyUpdate>
  | Step<'leases', LeaseDecisions>
  | Step<'ip', IpPolicyUpdate>
  | Step<'relay', RelayPolicyUpdate>
  | Step<'domain', DomainPolicyUpdate>
  | Step<'name', NamePolicyUpdate>

/** *Extension*: a PolicyChange is a change that was made through the API. */
export type PolicyChange = PolicyStep & {
  /** The number of the change, counted from 1 since the relay started or, with several machines, since its Redis did. */
  id: number
  /** The time of the change. */
  at: string
  /**
   * The name of the administrator; `ADMIN_TOKEN` for who has that. Undefined for the end of a ban by itself, and for a change
   * of an older version.
   */
  by?: string | undefined
}

/** *Extension*: PolicyChangesResponse is the answer to `GET /api/policy/changes`. */
export interface PolicyChangesResponse {
  /** The last changes since the relay started, newest first. */
  changes: PolicyChange[]
}

/** *Extension*: AuditEntry is a line of the audit log. */
export interface AuditEntry {
  at: string
  /** The name of the administrator. Absent for the end of a ban by itself, and for an edit of `policy.json`. */
  by?: string | undefined
  /** The client address of the administrator. */
  address?: string | undefined
  /**
   * As in {@link PolicyStep}, with `lease` for each of many decisions; or `file`: the operator edited `policy.json`; or `invitation`
   * or `administrator`. Later versions may have others.
   */
  kind: string
  /** What was changed, without secrets. */
  made: Record<string, unknown>
  /** The update that reverts it, if one does. */
  undo?: Record<string, unknown> | undefined
}

/** *Extension*: AuditResponse is the answer to `GET /api/policy/audit`: the log of the answering machine, newest first. */
export interface AuditResponse extends Paged {
  entries: AuditEntry[]
}

/** *Extension*: Invitation lets a number of names register at a relay that asks for one. */
export interface Invitation {
  /** Names the invitation, and is no secret. */
  id: string
  /** How many names may come in with it. */
  names: number
  /** The identity keys that have come in with it, and stay in until it is withdrawn. */
  identity_keys: string[]
  /** When it ends for newcomers; absent: never. */
  expires_at?: string | undefined
  /** What the administrator wrote about it. */
  note: string
  created_at: string
}

/** *Extension*: InvitationRequest is the body of `POST /api/policy/invitations`. */
export interface InvitationRequest {
  /** How many names may come in, a whole number from 1 up. */
  names: number
  /**
   * The seconds for which newcomers may use it.
   * @default without end
   */
  ttl?: number | undefined
  /** @default '' */
  note?: string | undefined
}

/** *Extension*: NewInvitation is the answer to `POST /api/policy/invitations`. */
export interface NewInvitation {
  invitation: Invitation
  /** The token, which the relay does not store and nothing shows again. */
  token: string
}

/** *Extension*: InvitationsResponse is the answer to `GET /api/policy/invitations`. */
export interface InvitationsResponse {
  invitations: Invitation[]
}

/** *Extension*: WithdrawInvitationRequest is the body of `POST /api/policy/invitations/withdraw`. */
export interface WithdrawInvitationRequest {
  id: string
}

/** *Extension*: AdministratorsResponse is the answer to `GET /api/admin/administrators`. */
export interface AdministratorsResponse {
  /** The administrators beside the holder of `ADMIN_TOKEN`. */
  administrators: {
    name: string
    /** When the administrator's token was made. */
    created_at: string
  }[]
}

/** *Extension*: AdministratorRequest names an administrator who gets a token, or no longer has one. */
export interface AdministratorRequest {
  /** 1 to 63 of a-z, 0-9, dot, underscore and hyphen; a letter or digit first. */
  name: string
}

/** *Extension*: NewAdministrator is the answer to `POST /api/admin/administrators`. */
export interface NewAdministrator {
  name: string
  /** The token, which the relay does not store and nothing shows again. */
  token: string
}

/** AdminAuthLoginRequest is the body of `POST /api/admin/auth/login`. */
export interface AdminAuthLoginRequest {
  /** The admin token, which the operator set as `ADMIN_TOKEN`. */
  token: string
}

/** AdminAuthLoginResponse is the answer to a login: the admin token, which is the bearer of every other request. */
export interface AdminAuthLoginResponse {
  /** The admin token itself. The relay keeps no session. */
  access_token: string
}

/**
 * AdminAuthStatusResponse is the answer to `GET /api/admin/auth/status`: it says whether the request had the admin
 * token.
 */
export interface AdminAuthStatusResponse {
  authenticated: boolean
  /** *Extension*: the name of the administrator; `ADMIN_TOKEN` for who has that. */
  administrator?: string | undefined
}

/** *Extension*: AdminCertificatesResponse lists the relay's certificates, one entry for each kind of host. */
export interface AdminCertificatesResponse {
  certificates: HeldCertificates[]
}

/** *Extension*: HeldCertificates are the certificates of the root host, of the wildcard, or of the sites. */
export interface HeldCertificates {
  host_kind: 'root' | 'wildcard' | 'site'
  /** The number of certificates. */
  count: number
  /** The DNS names of the one that expires first. */
  names: string[]
  /** The expiry of that one, RFC 3339; empty when there is none. */
  not_after: string
  /** Why the last order failed; empty when it succeeded, or when there was none. */
  last_error: string
  /** The time of that failure, RFC 3339; empty when there is none. */
  last_error_at: string
}

/** *Extension*: AdminCacheResponse is the content of the static cache. */
export interface AdminCacheResponse {
  /** One for each site, earliest expiry first. */
  sites: CachedSite[]
  /** The disk space that the cache uses, in bytes, including uploads, on all machines. */
  used_bytes: number
  /** The limit of the disk space, in bytes; 0 while the cache is off. */
  max_bytes: number
}

/** *Extension*: AdminPaymentsResponse has the payment facilitator's figures since the relay started. */
export interface AdminPaymentsResponse {
  /** Whether the relay has a facilitator; if not, the texts are empty and the numbers 0. */
  enabled: boolean
  /** The name of the network, for people. */
  network_name: string
  /** The address of the recipient. */
  pay_to: string
  /** The number of settled payments. */
  settled: number
  /** The number of requests that were refused because of the payment. */
  refused: number
  /** The number of requests that failed because full nodes, the journal or capacity were missing. */
  failed: number
  /** The number of payments in the journal without an outcome; the next request about one resolves it. */
  open: number
}

/** *Extension*: CachedSite is a site whose files the relay stores, with or without a lease. */
export interface CachedSite {
  identity_key: string
  /** The canonical hostname, at which visitors get the files. */
  hostname: string
  /** The number of files. */
  files: number
  /** Their total size, in bytes. */
  bytes: number
  /** The time of the upload, RFC 3339. */
  published_at: string
  /** The time at which the relay removes the files if the site is not renewed. RFC 3339. */
  expires_at: string
  /** True when the site has a lease now. */
  has_lease: boolean
  /** True when visitors get the files now: false while the site waits for approval, or the machine is unreachable. */
  is_served: boolean
  /** The `CLUSTER_ADDR` of the machine that has the files; absent where the relay is one machine. */
  machine?: string | undefined
}

/**
 * *Extension*: AdminLoadResponse is the relay's current load. Bytes are TCP bytes since the relay started. If
 * the relay runs on several machines, the numbers are totals of those that are not gone.
 */
export interface AdminLoadResponse {
  /** The number of active leases. Each machine has the same. */
  leases: number
  /** The number of reverse sessions that wait for a visitor. */
  ready_sessions: number
  /** The number of open WebSockets and native sessions of tenants. */
  carriers: number
  /** The number of open TCP connections of visitors to sites. */
  visitor_connections: number
  /** The bytes from visitors, including their handshakes. */
  visitor_received_bytes: number
  /** The bytes that were sent to visitors. */
  visitor_sent_bytes: number
  /** The machines of the relay, the answering one first. Absent when the relay runs on one machine. */
  machines?: AdminMachine[] | undefined
  /** Whether the Redis through which the machines share their state (Redis) answers. Absent without one. */
  redis?: 'up' | 'down' | undefined
  /** The traffic of all visitors, now and within a day. Absent in the answer of an older relay. */
  traffic?: RelayTraffic | undefined
}

/** *Extension*: AdminMachine is one machine of a relay that runs on several, as the answering machine knows it. */
export interface AdminMachine {
  /** The address at which the other machines reach it. */
  address: string
  release_version: string
  /**
   * The machine is `online`; or `draining`: it accepts nothing new and will exit; or `unreachable` for the answering
   * machine, although Redis knows it; or `gone`, with its last known numbers.
   */
  state: 'online' | 'draining' | 'unreachable' | 'gone'
  /** True for the answering machine. */
  is_this: boolean
  /** The time of its start, RFC 3339. */
  started_at: string
  /** The time of its last sign of life, RFC 3339. */
  seen_at: string
  /** The number of open WebSockets and native sessions of tenants at this machine. */
  carriers: number
  /** The number of reverse sessions that wait for a visitor at this machine. */
  ready_sessions: number
  /** The number of open TCP connections of visitors at this machine. */
  visitor_connections: number
  /** The bytes from visitors since the machine started. */
  visitor_received_bytes: number
  /** The bytes to visitors since the machine started. */
  visitor_sent_bytes: number
}
