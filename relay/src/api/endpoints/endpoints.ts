// The table of the API: every endpoint once. The router gives each its handler, and the description at /api/openapi.json is
// made of the same table.

import {
  ADMIN_BODY_MAX_BYTES,
  type AdminAuthLoginRequest,
  type AdminAuthLoginResponse,
  type AdminAuthStatusResponse,
  type AdminCertificatesResponse,
  type AdminLoadResponse,
  BODY_DEADLINE_MS,
  BODY_MAX_BYTES,
  BUDGET_COST,
  type DomainResponse,
  type ErrorCode,
  type HealthResponse,
  type IpPolicyUpdate,
  type LeasePolicyUpdate,
  METADATA_BODY_MAX_BYTES,
  PATH,
  PEM_MEDIA_TYPE,
  type PolicyChangesResponse,
  type PolicyDecisionsResponse,
  type PolicySettings,
  type PolicyStateResponse,
  type PublicStateResponse,
  type RegisterChallengeRequest,
  type RegisterChallengeResponse,
  type RegisterRequest,
  type RegisterResponse,
  type RenewRequest,
  type RenewResponse,
  type ReverseEndpoint,
  type ReverseEndpointRequest,
  SIGN_BODY_MAX_BYTES,
  type SignRequest,
  type SignResponse,
  type SiteCertificate,
  type SiteCertificateRequest,
  type UnregisterRequest,
} from '@svc/protocol'
import type { z } from '../../config/schema.ts'
import type { Endpoint, JsonBody } from './endpoint.ts'
import * as take from './request-schemas.ts'
import * as answer from './response-schemas.ts'

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
  adminLoad: [None, AdminLoadResponse]
  adminCertificates: [None, AdminCertificatesResponse]
  policy: [None, PolicySettings]
  updatePolicy: [PolicySettings, PolicySettings]
  policyState: [None, PolicyStateResponse]
  updateLease: [LeasePolicyUpdate, Nothing]
  updateIp: [IpPolicyUpdate, Nothing]
  policyDecisions: [None, PolicyDecisionsResponse]
  policyChanges: [None, PolicyChangesResponse]
  domain: [None, DomainResponse]
  registerChallenge: [RegisterChallengeRequest, RegisterChallengeResponse]
  register: [RegisterRequest, RegisterResponse]
  renew: [RenewRequest, RenewResponse]
  reverse: [ReverseEndpointRequest, ReverseEndpoint]
  unregister: [UnregisterRequest, Nothing]
  connect: [None, None]
  certificateChain: [None, None]
  siteCertificate: [SiteCertificateRequest, SiteCertificate]
  sign: [SignRequest, SignResponse]
}

export type EndpointName = keyof Shapes

const JSON_MEDIA_TYPE = 'application/json'
const SWITCHING_PROTOCOLS = 101
const CREATED = 201

const BODY_ERRORS = ['invalid_json', 'invalid_request', 'rate_limited'] as const
const PORT_ERRORS = [
  'udp_disabled',
  'udp_capacity_exceeded',
  'tcp_port_disabled',
  'tcp_port_capacity_exceeded',
] as const
const PAGE_ERRORS = ['invalid_request', 'rate_limited'] as const
const TOKEN_ERRORS = ['unauthorized', 'lease_not_found'] as const
const WITH_TOKEN_ERRORS = [...BODY_ERRORS, ...TOKEN_ERRORS] as const

export const SIGN_BODY: JsonBody<SignRequest> = json(take.signRequest, { maxBytes: SIGN_BODY_MAX_BYTES })

export const SITE_CERTIFICATE_BODY: JsonBody<SiteCertificateRequest> = json(take.siteCertificateRequest, {})

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
  adminLoad: {
    ...asAdmin(get(PATH.adminLoad, 'What the relay carries now, and has carried since it started')),
    data: answer.adminLoad,
  },
  adminCertificates: {
    ...asAdmin(get(PATH.adminCertificates, 'What certificates the relay holds, and until when')),
    data: answer.adminCertificates,
  },
  policy: { ...asAdmin(get(PATH.policy, 'The policy')), data: take.policySettings },
  updatePolicy: {
    ...asAdmin(post(PATH.policy, 'Replace the policy', take.policySettings), ['invalid_mode']),
    data: take.policySettings,
  },
  policyState: {
    ...asAdmin(get(PATH.policyState, 'The policy and every lease'), PAGE_ERRORS),
    isPaged: true,
    data: answer.policyState,
  },
  updateLease: {
    ...asAdmin(post(PATH.policyLeases, 'Approve, deny, ban or limit an identity', take.leasePolicyUpdate)),
    data: answer.nothing,
  },
  updateIp: {
    ...asAdmin(post(PATH.policyIps, 'Ban an address, or no longer', take.ipPolicyUpdate), ['invalid_ip']),
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
  domain: { ...get(PATH.domain, 'Versions and features, to check before registering'), data: answer.domain },
  registerChallenge: {
    ...post(PATH.registerChallenge, 'Ask for the message to sign', take.registerChallengeRequest, {
      maxBytes: METADATA_BODY_MAX_BYTES,
    }),
    cost: BUDGET_COST.challenge,
    status: CREATED,
    data: answer.registerChallenge,
    errors: [...BODY_ERRORS, 'invalid_address', 'ip_banned', 'feature_unavailable', ...PORT_ERRORS],
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
  sign: {
    ...post(PATH.sign, 'Sign for one handshake that the relay bridged', take.signRequest),
    body: SIGN_BODY,
    auth: 'token-header',
    data: answer.signature,
    bare: JSON_MEDIA_TYPE,
    errors: [...TOKEN_ERRORS, 'rate_limited'],
    bareFailures: [400, 403, 415, 500],
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
  const body = endpoint.body && { body: { ...endpoint.body, maxBytes: ADMIN_BODY_MAX_BYTES } }
  return { ...endpoint, ...body, auth: 'admin', errors }
}

function withToken<Body>(endpoint: Endpoint<Body, never>): Endpoint<Body, never> {
  return { ...endpoint, auth: 'token-body', errors: WITH_TOKEN_ERRORS }
}
