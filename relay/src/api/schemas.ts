// What the control plane takes as request bodies; unknown fields are ignored.

import {
  type AdminAuthLoginRequest,
  APPROVAL_MODES,
  type ApprovalMode,
  BINDING_BYTES,
  type Identity,
  type IpPolicyUpdate,
  identityKey,
  LEASE_NAME_MAX_CHARS,
  type LeaseMetadata,
  type LeasePolicyUpdate,
  normalizeAddress,
  normalizeName,
  type PolicySettings,
  type RegisterChallengeRequest,
  type RegisterRequest,
  type RenewRequest,
  type ReverseEndpointRequest,
  SIGN_ALGORITHMS,
  SIGN_NONCE_BYTES,
  type SignRequest,
  type Tls12SignRequest,
  type Tls13SignRequest,
  type UnregisterRequest,
} from '@svc/protocol'
import { normalizeIp } from '../ip.ts'
import { METADATA_TAG_MAX, METADATA_TAGS_MAX, METADATA_TEXT_MAX, METADATA_THUMBNAIL_MAX } from '../limits.ts'
import { described, named, normalized, parseWith, z } from '../schema.ts'

/** Longer than any message, signature or token of this relay. */
const TEXT_MAX = 8192

const text = z.string().max(TEXT_MAX)
export const metadata: z.ZodType<LeaseMetadata> = named(
  'LeaseMetadata',
  z.object({
    description: z.string().max(METADATA_TEXT_MAX).optional(),
    owner: z.string().max(METADATA_TEXT_MAX).optional(),
    thumbnail: z
      .string()
      .max(METADATA_THUMBNAIL_MAX)
      // Frontends put it into pages, where other schemes do other things.
      .regex(/^(?:$|https?:\/\/|data:)/, 'must be an http or data URL')
      .optional(),
    tags: z.array(z.string().max(METADATA_TAG_MAX)).max(METADATA_TAGS_MAX).optional(),
    hide: z.boolean().optional(),
  }),
)
export const identity: z.ZodType<Identity> = named(
  'Identity',
  z.object({
    name: normalized(
      TEXT_MAX,
      normalizeName,
      `must be one DNS label of at most ${LEASE_NAME_MAX_CHARS} characters`,
    ),
    address: normalized(TEXT_MAX, normalizeAddress, 'must be an Ethereum address', 'invalid_address'),
  }),
)
const ip = normalized(TEXT_MAX, normalizeIp, 'must be an IP address', 'invalid_ip')
const ttl = z.int().optional()
const reportedIp = normalized(
  TEXT_MAX,
  (value) => (value === '' ? '' : normalizeIp(value)),
  'must be an IP address',
  'invalid_ip',
).optional()
const base64 = z.base64()

export const registerChallengeRequest: z.ZodType<RegisterChallengeRequest> = named(
  'RegisterChallengeRequest',
  z.object({
    identity,
    allow_canonical_fallback: z.boolean().optional(),
    metadata: metadata.optional(),
    overlay: z.boolean().optional(),
    ttl,
    udp_enabled: z.boolean().optional(),
    tcp_enabled: z.boolean().optional(),
    cache: z.boolean().optional(),
    cache_ttl: z.number().optional(),
  }),
)

export const registerRequest: z.ZodType<RegisterRequest> = named(
  'RegisterRequest',
  z.object({
    challenge_id: text,
    siwe_message: text,
    siwe_signature: text,
    reported_ip: reportedIp,
  }),
)

export const renewRequest: z.ZodType<RenewRequest> = named(
  'RenewRequest',
  z.object({
    access_token: text,
    ttl,
    reported_ip: reportedIp,
    metadata: metadata.optional(),
    udp_enabled: z.boolean().optional(),
    tcp_enabled: z.boolean().optional(),
  }),
)

export const reverseEndpointRequest: z.ZodType<ReverseEndpointRequest> = named(
  'ReverseEndpointRequest',
  z.object({
    access_token: text,
    failed_url: text.optional(),
  }),
)

export const unregisterRequest: z.ZodType<UnregisterRequest> = named(
  'UnregisterRequest',
  z.object({ access_token: text }),
)

const signRequestBase = z.object({
  key_id: text,
  algorithm: z.enum(SIGN_ALGORITHMS),
  binding: base64.refine((value) => Buffer.from(value, 'base64').length === BINDING_BYTES),
  client_hello: base64,
  timestamp_unix: z.number(),
  nonce: z.hex().refine((value) => value.length === 2 * SIGN_NONCE_BYTES, {
    message: `must be ${SIGN_NONCE_BYTES} bytes`,
  }),
})

const tls13SignRequest: z.ZodType<Tls13SignRequest> = named(
  'TLS13SignRequest',
  signRequestBase.extend({
    server_hello: base64,
    encrypted_extensions: base64,
    certificate: base64,
    hello_retry_request: base64.optional(),
    client_hello_retry: base64.optional(),
  }),
)

const tls12SignRequest: z.ZodType<Tls12SignRequest> = named(
  'TLS12SignRequest',
  signRequestBase.extend({
    client_random: base64,
    server_random: base64,
    server_ecdh_params: base64,
    certificate: base64.optional(),
  }),
)

/** For the description; {@link parseSignRequest} says which of the two a request is. */
export const signRequest: z.ZodType<SignRequest> = named(
  'SignRequest',
  z.union([tls13SignRequest, tls12SignRequest]),
)

/** @throws RelayError as {@link parseWith} does */
export function parseSignRequest(value: unknown): SignRequest {
  const isTls12 = typeof value === 'object' && value !== null && 'server_ecdh_params' in value
  return isTls12 ? parseWith(tls12SignRequest, value) : parseWith(tls13SignRequest, value)
}

export const adminLoginRequest: z.ZodType<AdminAuthLoginRequest> = named(
  'AdminAuthLoginRequest',
  z.object({ token: text }),
)

const portSettings = named(
  'PolicyPortSettings',
  z.object({ enabled: z.boolean(), max_leases: z.int().nonnegative() }),
)

export const policySettings: z.ZodType<PolicySettings> = named(
  'PolicySettings',
  z.object({
    approval_mode: described(
      { enum: APPROVAL_MODES },
      normalized(
        TEXT_MAX,
        (mode) => APPROVAL_MODES.find((known) => known === mode),
        `must be one of ${APPROVAL_MODES.join(', ')}`,
        'invalid_mode',
      ),
    ) as z.ZodType<ApprovalMode>,
    landing_page_enabled: z.boolean(),
    udp: portSettings,
    tcp_port: portSettings,
  }),
)

export const leasePolicyUpdate: z.ZodType<LeasePolicyUpdate> = named(
  'LeasePolicyUpdate',
  z.object({
    identity_key: normalized(TEXT_MAX, normalizeIdentityKey, 'must be name:address'),
    is_banned: z.boolean().optional(),
    is_approved: z.boolean().optional(),
    is_denied: z.boolean().optional(),
    bps: z.int().nonnegative().optional(),
  }),
)

export const ipPolicyUpdate: z.ZodType<IpPolicyUpdate> = named(
  'IPPolicyUpdate',
  z.object({ ip, is_banned: z.boolean() }),
)

function normalizeIdentityKey(key: string): string | undefined {
  const [name, address, ...rest] = key.split(':')
  if (name === undefined || address === undefined || rest.length > 0) return undefined
  const normal = { name: normalizeName(name), address: normalizeAddress(address) }
  return normal.name && normal.address ? identityKey(normal.name, normal.address) : undefined
}
