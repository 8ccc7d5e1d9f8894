// The table of the API: every endpoint once. The router gives each its handler, and the description at /api/openapi.json is
// made of the same table.

import {
  ADMIN_BODY_MAX_BYTES,
  type AdminAuthLoginRequest,
  type AdminAuthLoginResponse,
  type AdminAuthStatusResponse,
  type AdminCacheResponse,
  type AdminCertificatesResponse,
  type AdministratorRequest,
  type AdministratorsResponse,
  type AdminLoadResponse,
  type AdminPaymentsResponse,
  type AuditResponse,
  BODY_DEADLINE_MS,
  BODY_MAX_BYTES,
  BUDGET_COST,
  CACHE_EXPOSURE_MAX_BYTES,
  CACHE_FILES_MAX,
  CACHE_MANIFEST_MAX_BYTES,
  CACHE_UPLOAD_DEADLINE_MS,
  type CustomDomainsRequest,
  type CustomDomainsResponse,
  type DiscoveryAnnouncement,
  type DiscoveryAnnounceResponse,
  type DiscoveryResponse,
  type DomainPolicyUpdate,
  type DomainResponse,
  type ErrorCode,
  type HealthResponse,
  type HopRouteRequest,
  type InvitationRequest,
  type InvitationsResponse,
  type IpPolicyUpdate,
  LEASE_DECISIONS_BODY_MAX_BYTES,
  LEASE_DECISIONS_MAX,
  type LeaseDecisions,
  type LeasePolicyUpdate,
  METADATA_BODY_MAX_BYTES,
  type NamePolicyUpdate,
  type NewAdministrator,
  type NewInvitation,
  ONLY_OWN_DESCRIPTOR,
  PATH,
  PEM_MEDIA_TYPE,
  type PinnedNamesResponse,
  type PolicyChangesResponse,
  type PolicyDecisionsResponse,
  type PolicyLeaseResponse,
  type PolicySettings,
  type PolicyStateResponse,
  type PublicStateResponse,
  type RegisterChallengeRequest,
  type RegisterChallengeResponse,
  type RegisterRequest,
  type RegisterResponse,
  type RelayPolicyUpdate,
  type RenewRequest,
  type RenewResponse,
  type ReverseEndpoint,
  type ReverseEndpointRequest,
  SIGN_BODY_MAX_BYTES,
  type SignRequest,
  type SignResponse,
  type SiteCertificate,
  type SiteCertificateRequest,
  type SitePresence,
  type StaticCacheManifest,
  type StaticCacheStatus,
  type UnregisterRequest,
  type WithdrawInvitationRequest,
} from '@svc/protocol'
import type { z } from '../../config/schema.ts'
import { RESERVED_NAMES_MAX } from '../../policy/reserved-names.ts'
import { JSON_VALUES_MAX } from '../http/json.ts'
import type { Endpoint, JsonBody, StreamBody } from './endpoint.ts'
import * as take from './request-schemas.ts'
import * as answer from './response-schemas.ts'

/** Values of a manifest, as {@link JSON_VALUES_MAX}: each file has four, and as many again are for fields that the relay does not know. */
const MANIFEST_VALUES_MAX = JSON_VALUES_MAX + 8 * CACHE_FILES_MAX
/** Bytes of a part of an upload before its content: the boundary and the headers. */
const CACHE_PART_HEAD_MAX_BYTES = 1024
/** Values of a change of the policy, with the names that the operator reserves. */
const POLICY_VALUES_MAX = JSON_VALUES_MAX + RESERVED_NAMES_MAX
/** Six for each identity, its object included, and those around them. */
const LEASE_DECISIONS_VALUES_MAX: number = 8 * LEASE_DECISIONS_MAX

type None = undefined
type Nothing = Record<string, never>

/** Types of body and data for each endpoint. */
interface Shapes {
  openapi: [None, None]
  health: [None, HealthResponse]
  state: [None, PublicStateResponse]
  adminLogin: [AdminAuthLoginRequest, AdminAuthLoginResponse]
  adminStatus: [None, AdminAuthStatusResponse]
  adminLogout: [None, Nothing]
  administrators: [None, AdministratorsResponse]
  addAdministrator: [AdministratorRequest, NewAdministrator]
  removeAdministrator: [AdministratorRequest, Nothing]
  adminLoad: [None, AdminLoadResponse]
  adminCertificates: [None, AdminCertificatesResponse]
  adminCache: [None, AdminCacheResponse]
  adminPayments: [None, AdminPaymentsResponse]
  policy: [None, PolicySettings]
  updatePolicy: [PolicySettings, PolicySettings]
  policyState: [None, PolicyStateResponse]
  policyLease: [None, PolicyLeaseResponse]
  updateLease: [LeasePolicyUpdate, Nothing]
  updateLeases: [LeaseDecisions, Nothing]
  updateIp: [IpPolicyUpdate, Nothing]
  updateRelay: [RelayPolicyUpdate, Nothing]
  updateDomain: [DomainPolicyUpdate, Nothing]
  policyNames: [None, PinnedNamesResponse]
  updateName: [NamePolicyUpdate, Nothing]
  invitations: [None, InvitationsResponse]
  addInvitation: [InvitationRequest, NewInvitation]
  withdrawInvitation: [WithdrawInvitationRequest, Nothing]
  policyDecisions: [None, PolicyDecisionsResponse]
  policyChanges: [None, PolicyChangesResponse]
  audit: [None, AuditResponse]
  domain: [None, DomainResponse]
  registerChallenge: [RegisterChallengeRequest, RegisterChallengeResponse]
  register: [RegisterRequest, RegisterResponse]
  renew: [RenewRequest, RenewResponse]
  reverse: [ReverseEndpointRequest, ReverseEndpoint]
  customDomains: [CustomDomainsRequest, CustomDomainsResponse]
  unregister: [UnregisterRequest, Nothing]
  connect: [None, None]
  certificateChain: [None, None]
  siteCertificate: [SiteCertificateRequest, SiteCertificate]
  hopRoute: [HopRouteRequest, Nothing]
  neighbour: [None, None]
  checkCache: [StaticCacheManifest, StaticCacheStatus]
  uploadCache: [None, StaticCacheStatus]
  removeCache: [None, StaticCacheStatus]
  sign: [SignRequest, SignResponse]
  discovery: [None, DiscoveryResponse]
  announce: [DiscoveryAnnouncement, DiscoveryAnnounceResponse]
  discoverySite: [None, SitePresence]
}

export type EndpointName = keyof Shapes

/** A SHA-256 in hex. */
export const SITE_QUESTION_PATTERN = '^[0-9a-f]{64}$'

/** A name, a colon and an Ethereum address. */
const IDENTITY_KEY_PATTERN = '^[a-z0-9-]{1,22}:0x[0-9a-f]{40}$'

const JSON_MEDIA_TYPE = 'application/json'
const SWITCHING_PROTOCOLS = 101
const CREATED = 201
const ACCEPTED = 202
const UNAVAILABLE = 503

const BODY_ERRORS = ['invalid_json', 'invalid_request', 'rate_limited'] as const
const PORT_ERRORS = [
  'udp_disabled',
  'udp_capacity_exceeded',
  'tcp_port_disabled',
  'tcp_port_capacity_exceeded',
] as const
const INVITATION_ERRORS = ['invitation_required', 'invitation_rejected'] as const
const PAGE_ERRORS = ['invalid_request', 'rate_limited'] as const
const TOKEN_ERRORS = ['unauthorized', 'lease_not_found'] as const
const WITH_TOKEN_ERRORS = [...BODY_ERRORS, ...TOKEN_ERRORS] as const

export const SIGN_BODY: JsonBody<SignRequest> = json(take.signRequest, { maxBytes: SIGN_BODY_MAX_BYTES })

export const SITE_CERTIFICATE_BODY: JsonBody<SiteCertificateRequest> = json(take.siteCertificateRequest, {})

export const HOP_ROUTE_BODY: JsonBody<HopRouteRequest> = json(take.hopRouteRequest, {})

export const CACHE_MANIFEST_BODY: JsonBody<StaticCacheManifest> = json(take.staticCacheManifest, {
  maxBytes: CACHE_MANIFEST_MAX_BYTES,
  maxValues: MANIFEST_VALUES_MAX,
})

/** The parts are the manifest and the objects, each with a head; the last boundary takes no more than a head. */
export const CACHE_UPLOAD_BODY: StreamBody = {
  kind: 'stream',
  mediaType: 'multipart/form-data',
  maxBytes:
    CACHE_EXPOSURE_MAX_BYTES + CACHE_MANIFEST_MAX_BYTES + (CACHE_FILES_MAX + 2) * CACHE_PART_HEAD_MAX_BYTES,
  deadlineMs: CACHE_UPLOAD_DEADLINE_MS,
}

const CACHE_ERRORS = [...TOKEN_ERRORS, 'lease_rejected', 'rate_limited', 'feature_unavailable'] as const

export const ENDPOINTS: { readonly [Name in EndpointName]: Endpoint<Shapes[Name][0], Shapes[Name][1]> } = {
  openapi: {
    ...get(PATH.openapi, 'This description'),
    bare: JSON_MEDIA_TYPE,
  },
  health: {
    ...get(PATH.health, 'Whether work may be sent here'),
    data: answer.health,
    errors: ['feature_unavailable'],
  },
  state: {
    ...get(PATH.state, 'The leases that are published and not hidden'),
    isKept: true,
    isPaged: true,
    data: answer.publicState,
    errors: PAGE_ERRORS,
  },
  adminLogin: {
    ...post(PATH.adminLogin, 'Exchange the admin token for a bearer', take.adminLoginRequest),
    data: answer.adminLogin,
    errors: [...BODY_ERRORS, 'unauthorized', 'feature_unavailable'],
  },
  adminStatus: {
    ...get(PATH.adminStatus, 'Whether the bearer that was sent is valid'),
    auth: 'optional-admin',
    data: answer.adminStatus,
    errors: ['rate_limited'],
  },
  adminLogout: {
    ...asAdmin({
      ...get(PATH.adminLogout, 'Nothing to do here: the client forgets its token'),
      method: 'POST',
    }),
    data: answer.nothing,
  },
  administrators: {
    ...asAdmin(get(PATH.administrators, 'The administrators who have a token of their own')),
    data: answer.administrators,
  },
  addAdministrator: {
    ...asAdmin(
      post(PATH.administrators, 'Make a token for another administrator', take.administratorRequest),
    ),
    data: answer.newAdministrator,
  },
  removeAdministrator: {
    ...asAdmin(
      post(
        PATH.removeAdministrator,
        "Take an administrator's token back, at once",
        take.administratorRequest,
      ),
    ),
    data: answer.nothing,
  },
  adminLoad: {
    ...asAdmin(get(PATH.adminLoad, 'What the relay carries now, and has carried since it started')),
    data: answer.adminLoad,
  },
  adminCertificates: {
    ...asAdmin(get(PATH.adminCertificates, 'What certificates the relay holds, and until when')),
    data: answer.adminCertificates,
  },
  adminCache: {
    ...asAdmin(get(PATH.adminCache, 'Which sites have files in the static cache, and until when')),
    data: answer.adminCache,
  },
  adminPayments: {
    ...asAdmin(get(PATH.adminPayments, 'What the payment facilitator does')),
    data: answer.adminPayments,
  },
  policy: { ...asAdmin(get(PATH.policy, 'The policy')), data: take.policySettings },
  updatePolicy: {
    ...asAdmin(
      post(PATH.policy, 'Replace the policy', take.policySettings, { maxValues: POLICY_VALUES_MAX }),
      ['invalid_mode'],
    ),
    data: take.policySettings,
  },
  policyState: {
    ...asAdmin(get(PATH.policyState, 'The policy and every lease'), PAGE_ERRORS),
    isPaged: true,
    data: answer.policyState,
  },
  policyLease: {
    ...asAdmin(
      get(PATH.policyLease, 'Everything about one identity: lease, decisions, traffic, and what happened'),
      ['invalid_request', 'lease_not_found'],
    ),
    query: {
      name: 'identity_key',
      description: 'The identity key: name, colon and address.',
      pattern: IDENTITY_KEY_PATTERN,
    },
    data: answer.policyLeaseResponse,
  },
  updateLease: {
    ...asAdmin(post(PATH.policyLeases, 'Approve, deny, ban or limit an identity', take.leasePolicyUpdate)),
    data: answer.nothing,
  },
  updateLeases: {
    ...asAdmin(
      post(PATH.policyLeasesBulk, 'Approve, deny or ban many identities: all, or none', take.leaseDecisions, {
        maxBytes: LEASE_DECISIONS_BODY_MAX_BYTES,
        maxValues: LEASE_DECISIONS_VALUES_MAX,
      }),
    ),
    data: answer.nothing,
  },
  updateIp: {
    ...asAdmin(post(PATH.policyIps, 'Ban an address, or no longer', take.ipPolicyUpdate), ['invalid_ip']),
    data: answer.nothing,
  },
  updateRelay: {
    ...asAdmin(
      post(PATH.policyRelays, 'Ban another relay from discovery, or no longer', take.relayPolicyUpdate),
    ),
    data: answer.nothing,
  },
  updateDomain: {
    ...asAdmin(
      post(PATH.policyDomains, 'Ban a custom domain and all below it, or no longer', take.domainPolicyUpdate),
    ),
    data: answer.nothing,
  },
  policyNames: {
    ...asAdmin(get(PATH.policyNames, 'The names that are pinned to an identity')),
    data: answer.pinnedNames,
  },
  updateName: {
    ...asAdmin(
      post(PATH.policyNames, 'Pin a friendly name to an address, or unpin it', take.namePolicyUpdate),
      ['invalid_address'],
    ),
    data: answer.nothing,
  },
  invitations: {
    ...asAdmin(get(PATH.policyInvitations, 'The invitations, and who came in with them')),
    data: answer.invitations,
  },
  addInvitation: {
    ...asAdmin(post(PATH.policyInvitations, 'Make an invitation', take.invitationRequest)),
    data: answer.newInvitation,
  },
  withdrawInvitation: {
    ...asAdmin(
      post(
        PATH.withdrawInvitation,
        'Withdraw an invitation: who came in with it is out',
        take.withdrawInvitationRequest,
      ),
    ),
    data: answer.nothing,
  },
  policyDecisions: {
    ...asAdmin(get(PATH.policyDecisions, 'Every decision that holds, with or without a lease'), PAGE_ERRORS),
    isPaged: true,
    data: answer.policyDecisions,
  },
  policyChanges: {
    ...asAdmin(
      get(PATH.policyChanges, 'The last changes since the relay started, and what would take each back'),
    ),
    data: answer.policyChanges,
  },
  audit: {
    ...asAdmin(
      get(PATH.policyAudit, 'The audit log of this machine: who changed what, the newest first'),
      PAGE_ERRORS,
    ),
    isPaged: true,
    data: answer.audit,
  },
  domain: { ...get(PATH.domain, 'Versions and features, to check before registering'), data: answer.domain },
  registerChallenge: {
    ...post(PATH.registerChallenge, 'Ask for the message to sign', take.registerChallengeRequest, {
      maxBytes: METADATA_BODY_MAX_BYTES,
    }),
    cost: BUDGET_COST.challenge,
    status: CREATED,
    data: answer.registerChallenge,
    errors: [
      ...BODY_ERRORS,
      'invalid_address',
      'ip_banned',
      ...INVITATION_ERRORS,
      'feature_unavailable',
      ...PORT_ERRORS,
    ],
  },
  register: {
    ...post(PATH.register, 'Register a lease with the signed message', take.registerRequest),
    cost: BUDGET_COST.register,
    auth: 'siwe',
    status: CREATED,
    data: answer.register,
    errors: [
      ...BODY_ERRORS,
      'invalid_ip',
      'unauthorized',
      'ip_banned',
      'hostname_conflict',
      ...INVITATION_ERRORS,
      'feature_unavailable',
      ...PORT_ERRORS,
      'udp_port_exhausted',
      'tcp_port_exhausted',
    ],
  },
  renew: {
    ...withToken(
      post(PATH.renew, 'Extend a lease and refresh its credentials', take.renewRequest, {
        withTokenMaxBytes: METADATA_BODY_MAX_BYTES,
      }),
    ),
    data: answer.renew,
    errors: [...WITH_TOKEN_ERRORS, 'invalid_ip', 'ip_banned', 'transport_mismatch', 'feature_unavailable'],
  },
  reverse: {
    ...withToken(post(PATH.reverse, 'Get another reverse endpoint', take.reverseEndpointRequest)),
    data: answer.reverseEndpoint,
    errors: [...WITH_TOKEN_ERRORS, 'ip_banned'],
  },
  customDomains: {
    ...withToken(
      post(
        PATH.customDomains,
        "States of the lease's custom domains, after the look-ups",
        take.customDomainsRequest,
      ),
    ),
    data: answer.customDomains,
    errors: [...WITH_TOKEN_ERRORS, 'feature_unavailable'],
  },
  unregister: {
    ...withToken(post(PATH.unregister, 'Give a lease up', take.unregisterRequest)),
    data: answer.nothing,
  },
  connect: {
    ...get(PATH.connect, 'Upgrade to a reverse session'),
    auth: 'capability',
    status: SWITCHING_PROTOCOLS,
    errors: [
      ...TOKEN_ERRORS,
      'invalid_request',
      'ip_banned',
      'lease_rejected',
      'rate_limited',
      'hijack_unsupported',
      'http11_only',
    ],
  },
  certificateChain: {
    ...get(
      PATH.certificateChain,
      "The chain that tenants present, or with a token the lease's own, leaf first",
    ),
    auth: 'optional-token-header',
    errors: [...TOKEN_ERRORS, 'feature_unavailable'],
    bare: PEM_MEDIA_TYPE,
  },
  siteCertificate: {
    ...post(
      PATH.siteCertificate,
      'Get a certificate for a key that the site keeps itself',
      take.siteCertificateRequest,
    ),
    body: SITE_CERTIFICATE_BODY,
    auth: 'token-header',
    data: answer.siteCertificate,
    pending: answer.siteCertificatePending,
    errors: [...WITH_TOKEN_ERRORS, 'lease_rejected', 'feature_unavailable'],
  },
  hopRoute: {
    ...post(
      PATH.hopRoute,
      'Bring a signed hop route to the relay that it is for, over the overlay',
      take.hopRouteRequest,
    ),
    body: HOP_ROUTE_BODY,
    auth: 'token-header',
    data: answer.nothing,
    errors: [...WITH_TOKEN_ERRORS, 'lease_rejected', 'feature_unavailable'],
  },
  neighbour: {
    ...get(PATH.neighbour, 'Upgrade to a connection to the public port of a neighbour on the overlay'),
    auth: 'token-header',
    status: SWITCHING_PROTOCOLS,
    errors: [
      ...TOKEN_ERRORS,
      'invalid_request',
      'lease_rejected',
      'rate_limited',
      'hijack_unsupported',
      'feature_unavailable',
    ],
  },
  checkCache: {
    ...post(
      PATH.cache,
      'Whether the relay stores a snapshot with this manifest; one with another manifest is removed',
      take.staticCacheManifest,
    ),
    body: CACHE_MANIFEST_BODY,
    auth: 'token-header',
    data: answer.staticCacheStatus,
    errors: [...BODY_ERRORS, ...CACHE_ERRORS],
    plainFailures: [UNAVAILABLE],
  },
  uploadCache: {
    ...get(
      PATH.cache,
      'Upload a snapshot: a part `manifest`, then a part `object` for each file, in its order',
    ),
    method: 'PUT',
    body: CACHE_UPLOAD_BODY,
    auth: 'token-header',
    data: answer.staticCacheStatus,
    errors: [...BODY_ERRORS, ...CACHE_ERRORS],
    plainFailures: [UNAVAILABLE],
  },
  removeCache: {
    ...get(PATH.cache, 'Remove the snapshot'),
    method: 'DELETE',
    auth: 'token-header',
    data: answer.staticCacheStatus,
    errors: [...TOKEN_ERRORS, 'rate_limited', 'feature_unavailable'],
  },
  sign: {
    ...post(PATH.sign, 'Sign for one handshake that the relay bridged', take.signRequest),
    body: SIGN_BODY,
    auth: 'token-header',
    data: answer.signature,
    bare: JSON_MEDIA_TYPE,
    errors: [...TOKEN_ERRORS, 'rate_limited'],
    bareFailures: [400, 403, 415, 500],
  },
  discovery: {
    ...get(
      PATH.discovery,
      `This relay and those that it knows, each with its signed descriptor; with ?${ONLY_OWN_DESCRIPTOR} this one alone`,
    ),
    data: answer.discovery,
    errors: ['feature_unavailable', 'rate_limited'],
  },
  announce: {
    ...post(PATH.announce, 'Announce another relay with its signed descriptor', take.announcement),
    cost: BUDGET_COST.announce,
    auth: 'descriptor',
    status: ACCEPTED,
    data: answer.announced,
    errors: [...BODY_ERRORS, 'unauthorized', 'feature_unavailable'],
  },
  discoverySite: {
    ...get(PATH.discoverySite, "Whether this relay has a site now, with the site's own statement of that"),
    query: {
      name: 'site',
      description: 'SHA-256 of "svc site", a line feed, and the first label of the canonical hostname.',
      pattern: SITE_QUESTION_PATTERN,
    },
    data: answer.sitePresence,
    errors: ['invalid_request', 'feature_unavailable', 'rate_limited'],
  },
}

function get(path: string, summary: string): Endpoint<None, never> {
  return { method: 'GET', path, summary, auth: 'none', status: 200, errors: [] }
}

function post<Body>(
  path: string,
  summary: string,
  schema: z.ZodType<Body>,
  bounds: Partial<JsonBody<Body>> = {},
): Endpoint<Body, never> & { body: JsonBody<Body> } {
  const body = json(schema, bounds)
  return { method: 'POST', path, summary, auth: 'none', body, status: 200, errors: BODY_ERRORS }
}

function json<Body>(schema: z.ZodType<Body>, bounds: Partial<JsonBody<Body>>): JsonBody<Body> {
  return { kind: 'json', schema, maxBytes: BODY_MAX_BYTES, deadlineMs: BODY_DEADLINE_MS, ...bounds }
}

function asAdmin<Body>(
  endpoint: Endpoint<Body, never>,
  more: readonly ErrorCode[] = [],
): Endpoint<Body, never> {
  const errors: ErrorCode[] = [...endpoint.errors, 'unauthorized', 'rate_limited', ...more]
  const body = endpoint.body && {
    body: { ...endpoint.body, maxBytes: Math.max(endpoint.body.maxBytes, ADMIN_BODY_MAX_BYTES) },
  }
  return { ...endpoint, ...body, auth: 'admin', errors }
}

function withToken<Body>(endpoint: Endpoint<Body, never>): Endpoint<Body, never> {
  return { ...endpoint, auth: 'token-body', errors: WITH_TOKEN_ERRORS }
}
