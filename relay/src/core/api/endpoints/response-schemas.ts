// Schemas of responses, for the OpenAPI document. Tests check the responses against them.

import {
  type AdminAuthLoginResponse,
  type AdminAuthStatusResponse,
  type AdminCacheResponse,
  type AdminCertificatesResponse,
  type AdministratorsResponse,
  type AdminLoadResponse,
  type AdminMachine,
  type AdminPaymentsResponse,
  type AuditEntry,
  type AuditResponse,
  type BanDetails,
  type CustomDomain,
  type CustomDomainsResponse,
  type DiscoveryAnnounceResponse,
  type DiscoveryResponse,
  type DomainResponse,
  type EnsStatus,
  ERROR_STATUS,
  type ErrorCode,
  EXTENSIONS,
  type HealthResponse,
  type HourTraffic,
  type Invitation,
  type InvitationsResponse,
  LEASE_EVENTS,
  type Lease,
  type LeaseEvent,
  type LeaseTraffic,
  type NewAdministrator,
  type NewInvitation,
  type PinnedNamesResponse,
  type PolicyChange,
  type PolicyChangesResponse,
  type PolicyDecisionsResponse,
  type PolicyLease,
  type PolicyLeaseResponse,
  type PolicyStateResponse,
  type PublicStateResponse,
  type RegisterChallengeResponse,
  type RegisterResponse,
  type RelayDescriptor,
  type RelayTraffic,
  type RenewResponse,
  type ReverseEndpoint,
  SIGN_ALGORITHMS,
  type SignFailure,
  type SignResponse,
  type SiteCertificate,
  type SiteCertificatePending,
  type SitePresence,
  type StaticCacheLimits,
  type StaticCacheStatus,
  type X402FacilitatorInfo,
} from '@svc/protocol'
import { message, named, z } from '../../config/schema.ts'
import {
  domainPolicyUpdate,
  identity,
  ipPolicyUpdate,
  leaseDecisions,
  leasePolicyUpdate,
  metadata,
  namePolicyUpdate,
  policySettings,
  relayPolicyUpdate,
  siteStatement,
} from './request-schemas.ts'

const text = z.string()
const timestamp = z.iso.datetime()
const count = z.int().nonnegative()
/** Cursor of a list that has another page. */
const next = text.optional()

export const nothing: z.ZodType<Record<string, never>> = named('Nothing', z.strictObject({}))

export const health: z.ZodType<HealthResponse> = message('HealthResponse', {
  status: z.enum(['ok', 'degraded']),
  message: text.optional(),
})

const customDomain: z.ZodType<CustomDomain> = message('CustomDomain', {
  domain: text,
  state: z.enum(['pending', 'active', 'refused']),
  proven: z.literal(true).optional(),
  reason: text.optional(),
  records: z
    .array(z.object({ type: z.enum(['TXT', 'CNAME', 'A', 'AAAA']), name: text, value: text }))
    .optional(),
})

const leaseFields = {
  name: text,
  expires_at: timestamp,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
  hostname: text,
  udp_enabled: z.boolean(),
  tcp_enabled: z.boolean(),
  tcp_addr: text.optional(),
  domains: z.array(text).optional(),
  metadata,
  ready: count,
}
const lease: z.ZodType<Lease> = message('Lease', leaseFields)

export const publicState: z.ZodType<PublicStateResponse> = message('PublicStateResponse', {
  leases: z.array(lease),
  landing_page_enabled: z.boolean(),
  next,
})

const trafficSum = { received_bytes: count, sent_bytes: count, connections: count, visitors: count }
const leaseTraffic: z.ZodType<LeaseTraffic> = message('LeaseTraffic', {
  open_connections: count,
  received_bps: count,
  sent_bps: count,
  day: z.object(trafficSum),
})
const hours: z.ZodType<HourTraffic[]> = z.array(
  message<HourTraffic>('HourTraffic', { at: timestamp, ...trafficSum }),
)
const relayTraffic: z.ZodType<RelayTraffic> = message('RelayTraffic', {
  open_connections: count,
  received_bps: count,
  sent_bps: count,
  day: z.object(trafficSum),
  hours,
})

const ban: z.ZodType<BanDetails> = message('BanDetails', {
  reason: text.optional(),
  until: timestamp.optional(),
  at: timestamp,
  by: text,
})

const policyLease: z.ZodType<PolicyLease> = message('PolicyLease', {
  ...leaseFields,
  identity_key: text,
  address: text,
  bps: count,
  client_ip: text,
  reported_ip: text.optional(),
  is_approved: z.boolean(),
  is_banned: z.boolean(),
  is_denied: z.boolean(),
  is_ip_banned: z.boolean(),
  ip_bans: z.array(text),
  custom_domains: z.array(customDomain).optional(),
  traffic: leaseTraffic.optional(),
  ban: ban.optional(),
})

export const policyLeaseResponse: z.ZodType<PolicyLeaseResponse> = message('PolicyLeaseResponse', {
  identity_key: text,
  lease: policyLease.optional(),
  is_approved: z.boolean(),
  is_banned: z.boolean(),
  is_denied: z.boolean(),
  bps: count,
  ban: ban.optional(),
  traffic: leaseTraffic.optional(),
  hours,
  events: z.array(
    message<LeaseEvent>('LeaseEvent', {
      at: timestamp,
      kind: z.enum(LEASE_EVENTS),
      by: text.optional(),
      client_ip: text.optional(),
      end: z.enum(['expired', 'unregistered', 'shutdown']).optional(),
      reason: text.optional(),
      until: timestamp.optional(),
      bps: count.optional(),
    }),
  ),
})

export const policyState: z.ZodType<PolicyStateResponse> = message('PolicyStateResponse', {
  policy: policySettings,
  leases: z.array(policyLease),
  next,
})

/** By what is banned. */
const bans = z.record(text, ban)
export const policyDecisions: z.ZodType<PolicyDecisionsResponse> = message('PolicyDecisionsResponse', {
  approved: z.array(text),
  denied: z.array(text),
  banned: z.array(text),
  banned_ips: z.array(text),
  banned_relays: z.array(text),
  banned_domains: z.array(text),
  bps: z.record(text, count),
  ban_details: z
    .object({ banned: bans, banned_ips: bans, banned_relays: bans, banned_domains: bans })
    .optional(),
  next,
})

export const pinnedNames: z.ZodType<PinnedNamesResponse> = message('PinnedNamesResponse', {
  pinned: z.record(text, text),
})

export const administrators: z.ZodType<AdministratorsResponse> = message('AdministratorsResponse', {
  administrators: z.array(z.object({ name: text, created_at: timestamp })),
})

const invitation: z.ZodType<Invitation> = message('Invitation', {
  id: text,
  names: count,
  identity_keys: z.array(text),
  expires_at: timestamp.optional(),
  note: text,
  created_at: timestamp,
})

export const invitations: z.ZodType<InvitationsResponse> = message('InvitationsResponse', {
  invitations: z.array(invitation),
})

export const newInvitation: z.ZodType<NewInvitation> = message('NewInvitation', { invitation, token: text })

export const newAdministrator: z.ZodType<NewAdministrator> = message('NewAdministrator', {
  name: text,
  token: text,
})

const change = { id: count, at: timestamp, by: text.optional() }
const policyChange: z.ZodType<PolicyChange> = named(
  'PolicyChange',
  z.discriminatedUnion('kind', [
    z.object({ ...change, kind: z.literal('settings'), made: policySettings, undo: policySettings }),
    z.object({ ...change, kind: z.literal('lease'), made: leasePolicyUpdate, undo: leasePolicyUpdate }),
    z.object({ ...change, kind: z.literal('leases'), made: leaseDecisions, undo: leaseDecisions }),
    z.object({ ...change, kind: z.literal('ip'), made: ipPolicyUpdate, undo: ipPolicyUpdate }),
    z.object({ ...change, kind: z.literal('relay'), made: relayPolicyUpdate, undo: relayPolicyUpdate }),
    z.object({ ...change, kind: z.literal('domain'), made: domainPolicyUpdate, undo: domainPolicyUpdate }),
    z.object({ ...change, kind: z.literal('name'), made: namePolicyUpdate, undo: namePolicyUpdate }),
  ]),
)

export const policyChanges: z.ZodType<PolicyChangesResponse> = message('PolicyChangesResponse', {
  changes: z.array(policyChange),
})

const anything = z.record(text, z.unknown())
export const audit: z.ZodType<AuditResponse> = message('AuditResponse', {
  entries: z.array(
    message<AuditEntry>('AuditEntry', {
      at: timestamp,
      by: text.optional(),
      address: text.optional(),
      kind: text,
      made: anything,
      undo: anything.optional(),
    }),
  ),
  next,
})

export const adminLogin: z.ZodType<AdminAuthLoginResponse> = message('AdminAuthLoginResponse', {
  access_token: text,
})

export const adminStatus: z.ZodType<AdminAuthStatusResponse> = message('AdminAuthStatusResponse', {
  authenticated: z.boolean(),
  administrator: text.optional(),
})

export const adminCertificates: z.ZodType<AdminCertificatesResponse> = message('AdminCertificatesResponse', {
  certificates: z.array(
    z.object({
      host_kind: z.enum(['root', 'wildcard', 'site']),
      count,
      names: z.array(text),
      not_after: text,
      last_error: text,
      last_error_at: text,
    }),
  ),
})

export const adminPayments: z.ZodType<AdminPaymentsResponse> = message('AdminPaymentsResponse', {
  enabled: z.boolean(),
  network_name: text,
  pay_to: text,
  settled: count,
  refused: count,
  failed: count,
  open: count,
})

export const adminCache: z.ZodType<AdminCacheResponse> = message('AdminCacheResponse', {
  sites: z.array(
    z.object({
      identity_key: text,
      hostname: text,
      files: count,
      bytes: count,
      published_at: timestamp,
      expires_at: timestamp,
      has_lease: z.boolean(),
      is_served: z.boolean(),
      machine: text.optional(),
    }),
  ),
  used_bytes: count,
  max_bytes: count,
})

/** The load of all machines together, and of each one. */
const carried = {
  ready_sessions: count,
  carriers: count,
  visitor_connections: count,
  visitor_received_bytes: count,
  visitor_sent_bytes: count,
}

const adminMachine: z.ZodType<AdminMachine> = message('AdminMachine', {
  address: text,
  release_version: text,
  state: z.enum(['online', 'draining', 'unreachable', 'gone']),
  is_this: z.boolean(),
  started_at: timestamp,
  seen_at: timestamp,
  ...carried,
})

export const adminLoad: z.ZodType<AdminLoadResponse> = message('AdminLoadResponse', {
  leases: count,
  ...carried,
  machines: z.array(adminMachine).optional(),
  redis: z.enum(['up', 'down']).optional(),
  traffic: relayTraffic.optional(),
})

const ens: z.ZodType<EnsStatus> = message('ENSStatus', {
  enabled: z.boolean(),
  verified: z.boolean(),
  provider: text,
  address: text,
  dnssec_state: text,
  ds_record: text,
  message: text,
  last_error: text,
})

const x402: z.ZodType<X402FacilitatorInfo> = message('X402FacilitatorInfo', {
  enabled: z.boolean(),
  url: text,
  network: text,
  network_name: text,
  supported_url: text,
  pay_to: text,
})

const cache: z.ZodType<StaticCacheLimits> = message('StaticCacheLimits', {
  max_exposure_bytes: count,
  max_object_size: count,
})

export const domain: z.ZodType<DomainResponse> = message('DomainResponse', {
  protocol_version: text,
  release_version: text,
  extensions: z.array(z.enum(EXTENSIONS)).readonly(),
  cache: cache.optional(),
  discovery: z.boolean().optional(),
  invitation: z.boolean().optional(),
  downloads: z.boolean().optional(),
  ens,
  x402,
})

export const registerChallenge: z.ZodType<RegisterChallengeResponse> = message('RegisterChallengeResponse', {
  challenge_id: text,
  expires_at: timestamp,
  siwe_message: text,
})

export const relayDescriptor: z.ZodType<RelayDescriptor> = message('RelayDescriptor', {
  address: text,
  version: z.union([text, z.number()]),
  issued_at: timestamp,
  expires_at: timestamp,
  api_https_addr: text,
  wireguard_public_key: text,
  wireguard_port: z.number(),
  supports_overlay: z.boolean(),
  supports_udp: z.boolean(),
  supports_tcp: z.boolean(),
  active_connections: z.number(),
  tcp_bps: z.number(),
  signature: z.base64(),
})

export const reverseEndpoint: z.ZodType<ReverseEndpoint> = message('ReverseEndpoint', {
  url: text,
  capability: text,
  expires_at: timestamp,
  overlay: z.boolean(),
  gateway: relayDescriptor.optional(),
  routing: z.enum(['allowed', 'approval', 'rejected']).optional(),
})

export const customDomains: z.ZodType<CustomDomainsResponse> = message('CustomDomainsResponse', {
  domains: z.array(customDomain),
  retry_after: z.int().min(1).optional(),
})

const credentials = {
  expires_at: timestamp,
  access_token: text,
  reverse_endpoint: reverseEndpoint,
  domains: z.array(customDomain).optional(),
}

export const register: z.ZodType<RegisterResponse> = message('RegisterResponse', {
  identity,
  hostname: text,
  canonical_hostname: text,
  ...credentials,
  udp_addr: text.optional(),
  tcp_addr: text.optional(),
  udp_enabled: z.boolean(),
  tcp_enabled: z.boolean(),
  sni_port: z.int().min(1).max(65_535).optional(),
  udp_tunnel_addr: text.optional(),
  previous_owner: z.object({ until: timestamp, certified_until: timestamp.optional() }).optional(),
})

export const renew: z.ZodType<RenewResponse> = message('RenewResponse', credentials)

export const signature: z.ZodType<SignResponse> = message('SignResponse', {
  key_id: text,
  algorithm: z.enum(SIGN_ALGORITHMS),
  signature: z.base64(),
})

export const signFailure: z.ZodType<SignFailure> = message('SignFailure', { error: text })

export const discovery: z.ZodType<DiscoveryResponse> = message('DiscoveryResponse', {
  protocol_version: text,
  generated_at: timestamp,
  relays: z.array(relayDescriptor),
  incompatible_relays: z.array(z.object({ url: text, protocol_version: text, last_seen_at: timestamp })),
  release_version: text,
  relay_release_versions: z.record(text, text),
})

export const announced: z.ZodType<DiscoveryAnnounceResponse> = message('DiscoveryAnnounceResponse', {
  protocol_version: text,
  accepted: z.boolean(),
})

export const sitePresence: z.ZodType<SitePresence> = message('SitePresence', {
  here: z.boolean(),
  statement: siteStatement.optional(),
})

export const siteCertificate: z.ZodType<SiteCertificate> = message('SiteCertificate', { chain: text })

export const siteCertificatePending: z.ZodType<SiteCertificatePending> = message('SiteCertificatePending', {
  retry_after: z.int().positive(),
})

export const staticCacheStatus: z.ZodType<StaticCacheStatus> = message('StaticCacheStatus', {
  present: z.boolean(),
  expires_at: timestamp.optional(),
})

const codes = Object.keys(ERROR_STATUS) as ErrorCode[]

/** The envelope of an error. */
export const failed: z.ZodType<{ ok: false; error: { code: ErrorCode; message: string } }> = message(
  'Failure',
  { ok: z.literal(false), error: z.object({ code: z.enum(codes), message: text }) },
)
