// Schemas of request bodies. They ignore unknown fields.

import {
  type AdminAuthLoginRequest,
  type AdministratorRequest,
  APPROVAL_MODES,
  type ApprovalMode,
  BAN_REASON_MAX_CHARS,
  BINDING_BYTES,
  CACHE_FILES_MAX,
  CACHE_OBJECT_MAX_BYTES,
  CACHE_PATH_MAX_CHARS,
  CERTIFICATE_REQUEST_MAX_BYTES,
  CUSTOM_DOMAINS_MAX,
  type CustomDomainsRequest,
  type DiscoveryAnnouncement,
  DOMAIN_NAME_MAX_CHARS,
  type DomainPolicyUpdate,
  type HopRouteRequest,
  type Identity,
  type InvitationRequest,
  type IpPolicyUpdate,
  identityKey,
  LEASE_DECISIONS_MAX,
  LEASE_NAME_MAX_CHARS,
  type LeaseDecisions,
  type LeaseMetadata,
  type LeasePolicyUpdate,
  METADATA_DESCRIPTION_MAX_CHARS,
  METADATA_OWNER_MAX_CHARS,
  METADATA_TAG_MAX_CHARS,
  METADATA_TAGS_MAX,
  METADATA_THUMBNAIL_MAX_CHARS,
  type NamePolicyUpdate,
  nameOfAddress,
  normalizeAddress,
  normalizeName,
  type PolicySettings,
  type RegisterChallengeRequest,
  type RegisterRequest,
  type RelayDescriptor,
  type RelayPolicyUpdate,
  type RenewRequest,
  type ReverseEndpointRequest,
  SIGN_ALGORITHMS,
  SIGN_NONCE_BYTES,
  SITE_STATEMENT_SIGNATURE,
  SITE_STATEMENT_TIME,
  type SignRequest,
  type SiteCertificateRequest,
  type SiteStatement,
  type StaticCacheManifest,
  type UnregisterRequest,
  type WithdrawInvitationRequest,
} from '@svc/protocol'
import { IP_MAX_CHARS, normalizeIp } from '../../client-address/ip-address.ts'
import { NETWORK_MAX_CHARS, normalizeNetwork } from '../../client-address/ip-networks.ts'
import { described, message, named, normalized, text, z } from '../../config/schema.ts'
import { BANNED_DOMAIN_MAX_CHARS, normalizeDomain } from '../../policy/banned-domains.ts'
import { BANNED_RELAY_MAX_CHARS, normalizeRelay } from '../../policy/banned-relays.ts'
import { administratorName, INVITED_NAMES_MAX } from '../../policy/policy-file.ts'
import { RESERVED_NAMES_MAX } from '../../policy/reserved-names.ts'

/** The largest `cache_ttl` that a lease keeps, in seconds: the largest number that a setting can have. */
const CACHE_TTL_REQUEST_MAX_S = 999_999_999
/** A lease name, with blanks around it that the relay strips, in UTF-16 code units, as all texts below. */
const NAME_TEXT_MAX_CHARS = 64
/** The longest time for which newcomers may use an invitation: ten years. */
const INVITATION_TTL_MAX_S = 3_650 * 86_400
/** An Ethereum address: `0x` and 40 digits. */
const ADDRESS_TEXT_MAX_CHARS = 42
/** An identity key: name, colon and address. */
const IDENTITY_KEY_MAX_CHARS = NAME_TEXT_MAX_CHARS + 1 + ADDRESS_TEXT_MAX_CHARS
/** Key ids, challenge ids and enumerated words. */
const SHORT_TEXT_MAX_CHARS = 64
/** Longer than any invitation of this relay. */
const INVITATION_MAX_CHARS = 256
/** What an administrator writes about an invitation. */
const NOTE_MAX_CHARS = 200
/**
 * A Sign-In with Ethereum message. The SDKs sign no longer one either. It has the root host, of at most 253
 * characters, twice.
 */
export const SIWE_MESSAGE_MAX_CHARS = 2048
/** `0x` and 130 digits. The bound leaves room for texts that are a wrong signature and not a malformed request. */
export const SIWE_SIGNATURE_MAX_CHARS = 256
export const URL_MAX_CHARS = 2048
/** Longer than any token of this relay. */
export const TOKEN_TEXT_MAX_CHARS = 8192
/** A field of a hop route. The longest are origins and hostnames. */
export const HOP_FIELD_MAX_CHARS = 512
/** One handshake message for `/v1/sign`: as long as a ClientHello may be. */
export const SIGN_MESSAGE_MAX_BYTES: number = 64 * 1024

/** Extensions that a registration names. Later clients may know more than this relay. */
const EXTENSIONS_MAX = 32

/** The schema of a descriptor is that of responses. */
const DESCRIPTOR_REFERENCE = { $ref: '#/components/schemas/RelayDescriptor' }

const token = text(TOKEN_TEXT_MAX_CHARS)
export const metadata: z.ZodType<LeaseMetadata> = message('LeaseMetadata', {
  description: text(METADATA_DESCRIPTION_MAX_CHARS).optional(),
  owner: text(METADATA_OWNER_MAX_CHARS).optional(),
  thumbnail: text(METADATA_THUMBNAIL_MAX_CHARS)
    // Pages show the thumbnail, and other URL schemes are dangerous there.
    .regex(/^(?:$|https?:\/\/|data:)/, 'must be an http or data URL')
    .optional(),
  tags: z.array(text(METADATA_TAG_MAX_CHARS)).max(METADATA_TAGS_MAX).optional(),
  hide: z.boolean().optional(),
})
const leaseName = normalized(
  NAME_TEXT_MAX_CHARS,
  normalizeName,
  `must be one DNS label of at most ${LEASE_NAME_MAX_CHARS} characters`,
)
const address = normalized(
  ADDRESS_TEXT_MAX_CHARS,
  normalizeAddress,
  'must be an Ethereum address',
  'invalid_address',
)
export const identity: z.ZodType<Identity> = message('Identity', { name: leaseName, address })
/** The identity of a registration: without a name it gets a generated one. */
const registrant: z.ZodType<Identity> = named(
  'Registrant',
  z
    .object({
      name: normalized(
        NAME_TEXT_MAX_CHARS,
        (name) => (name.trim() === '' ? '' : normalizeName(name)),
        `must be one DNS label of at most ${LEASE_NAME_MAX_CHARS} characters, or empty: then the relay makes one of the address`,
      ).default(''),
      address,
    })
    .transform(({ name, address }) => ({ name: name || nameOfAddress(address), address })),
)
const network = normalized(
  NETWORK_MAX_CHARS,
  normalizeNetwork,
  'must be an IP address or a CIDR range',
  'invalid_ip',
)
const ttl = z.int().optional()
/** The static cache reduces a time to the operator's maximum. A negative or fractional time is an error. */
const cacheTtl = described(
  { type: 'integer', minimum: 0 },
  z
    .number()
    .nonnegative()
    .refine(Number.isInteger, 'must be a whole number of seconds')
    .transform((seconds) => Math.min(seconds, CACHE_TTL_REQUEST_MAX_S)),
)
const reportedIp = normalized(
  IP_MAX_CHARS,
  (value) => (value === '' ? '' : normalizeIp(value)),
  'must be an IP address',
  'invalid_ip',
).optional()

/** Base64 of at most `maxBytes` bytes (RFC 4648 §4). */
function base64(maxBytes: number): z.ZodString {
  return text(4 * Math.ceil(maxBytes / 3)).base64()
}

export const registerChallengeRequest: z.ZodType<RegisterChallengeRequest> = message(
  'RegisterChallengeRequest',
  {
    identity: registrant,
    allow_canonical_fallback: z.boolean().optional(),
    metadata: metadata.optional(),
    overlay: z.boolean().optional(),
    ttl,
    udp_enabled: z.boolean().optional(),
    tcp_enabled: z.boolean().optional(),
    cache: z.boolean().optional(),
    cache_ttl: cacheTtl.optional(),
    away_page: z.boolean().optional(),
    invitation: text(INVITATION_MAX_CHARS).optional(),
    extensions: z.array(text(SHORT_TEXT_MAX_CHARS)).max(EXTENSIONS_MAX).optional(),
    domains: z.array(text(DOMAIN_NAME_MAX_CHARS)).max(CUSTOM_DOMAINS_MAX).optional(),
  },
)

export const customDomainsRequest: z.ZodType<CustomDomainsRequest> = message('CustomDomainsRequest', {
  access_token: token,
})

export const registerRequest: z.ZodType<RegisterRequest> = message('RegisterRequest', {
  challenge_id: text(SHORT_TEXT_MAX_CHARS),
  siwe_message: text(SIWE_MESSAGE_MAX_CHARS),
  siwe_signature: text(SIWE_SIGNATURE_MAX_CHARS),
  reported_ip: reportedIp,
})

/** A date that exists, after 1970. */
const statementTime = text(SHORT_TEXT_MAX_CHARS)
  .regex(SITE_STATEMENT_TIME)
  .refine((time) => Date.parse(time) > 0, 'must be a time')

export const siteStatement: z.ZodType<SiteStatement> = message('SiteStatement', {
  issued_at: statementTime,
  expires_at: statementTime,
  signature: text(SIWE_SIGNATURE_MAX_CHARS).regex(SITE_STATEMENT_SIGNATURE),
})

export const renewRequest: z.ZodType<RenewRequest> = message('RenewRequest', {
  access_token: token,
  ttl,
  reported_ip: reportedIp,
  metadata: metadata.optional(),
  udp_enabled: z.boolean().optional(),
  tcp_enabled: z.boolean().optional(),
  statement: siteStatement.optional(),
})

export const reverseEndpointRequest: z.ZodType<ReverseEndpointRequest> = message('ReverseEndpointRequest', {
  access_token: token,
  failed_url: text(URL_MAX_CHARS).optional(),
})

export const unregisterRequest: z.ZodType<UnregisterRequest> = message('UnregisterRequest', {
  access_token: token,
})

/** A whole handshake message. */
const handshakeMessage = base64(SIGN_MESSAGE_MAX_BYTES)

export const signRequest: z.ZodType<SignRequest> = message('SignRequest', {
  key_id: text(SHORT_TEXT_MAX_CHARS),
  algorithm: z.enum(SIGN_ALGORITHMS),
  binding: base64(BINDING_BYTES).refine((value) => Buffer.from(value, 'base64').length === BINDING_BYTES),
  client_hello: handshakeMessage,
  server_hello: handshakeMessage,
  encrypted_extensions: handshakeMessage,
  certificate: handshakeMessage,
  hello_retry_request: handshakeMessage.optional(),
  client_hello_retry: handshakeMessage.optional(),
  timestamp_unix: z.number(),
  nonce: text(2 * SIGN_NONCE_BYTES)
    .regex(/^[0-9a-fA-F]*$/)
    .min(2 * SIGN_NONCE_BYTES, `must be ${SIGN_NONCE_BYTES} bytes`),
})

export const siteCertificateRequest: z.ZodType<SiteCertificateRequest> = message('SiteCertificateRequest', {
  csr: base64(CERTIFICATE_REQUEST_MAX_BYTES),
})

/** A schema cannot describe the content of the fields and the signature: `parseHopRoute` and the relay check them. */
const hopText = (): z.ZodString => text(HOP_FIELD_MAX_CHARS)
export const hopRouteRequest: z.ZodType<HopRouteRequest> = message('HopRouteRequest', {
  method: z.enum(['POST', 'DELETE']),
  route: z.object({
    owner_public_key: hopText(),
    relay_url: hopText(),
    public_hostname: hopText(),
    route_hostname: hopText(),
    hostname_hash: hopText(),
    match_token: hopText(),
    metadata: z.record(z.string(), z.unknown()),
    forward_relay: hopText(),
    forward_token: hopText(),
    first_seen_at: hopText(),
    expires_at: hopText(),
    signature: hopText(),
  }),
})

const SHA256_HEX_CHARS = 64
/** The rules of paths and of their order are more than a schema can say: `parseManifest` has them. */
export const staticCacheManifest: z.ZodType<StaticCacheManifest> = message('StaticCacheManifest', {
  index: text(CACHE_PATH_MAX_CHARS),
  fallback: z.boolean().optional(),
  files: z
    .array(
      z.object({
        path: text(CACHE_PATH_MAX_CHARS),
        size: z.int().nonnegative().max(CACHE_OBJECT_MAX_BYTES),
        sha256: text(SHA256_HEX_CHARS).regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1)
    .max(CACHE_FILES_MAX),
})

export const adminLoginRequest: z.ZodType<AdminAuthLoginRequest> = message('AdminAuthLoginRequest', { token })

const portSettings = named(
  'PolicyPortSettings',
  z.object({ enabled: z.boolean(), max_leases: z.int().nonnegative() }),
)

export const policySettings: z.ZodType<PolicySettings> = message('PolicySettings', {
  approval_mode: described(
    { enum: APPROVAL_MODES },
    normalized(
      SHORT_TEXT_MAX_CHARS,
      (mode) => APPROVAL_MODES.find((known) => known === mode),
      `must be one of ${APPROVAL_MODES.join(', ')}`,
      'invalid_mode',
    ),
  ) as z.ZodType<ApprovalMode>,
  landing_page_enabled: z.boolean(),
  udp: portSettings,
  tcp_port: portSettings,
  reserved_names: z.array(leaseName).max(RESERVED_NAMES_MAX).optional(),
})

/** What an administrator may say about a ban. That it is one, the handler checks. */
const banDetails = {
  reason: text(BAN_REASON_MAX_CHARS).optional(),
  until: described(
    { format: 'date-time' },
    normalized(SHORT_TEXT_MAX_CHARS, normalizeTime, 'must be a time (RFC 3339)'),
  ).optional(),
}

const identityKeyText = normalized(IDENTITY_KEY_MAX_CHARS, normalizeIdentityKey, 'must be name:address')

/** The query of an endpoint about one identity. */
export const identityKeyQuery: z.ZodType<{ identity_key: string }> = z.object({
  identity_key: identityKeyText,
})

const leaseDecision = {
  identity_key: identityKeyText,
  is_banned: z.boolean().optional(),
  is_approved: z.boolean().optional(),
  is_denied: z.boolean().optional(),
  ...banDetails,
}

export const leasePolicyUpdate: z.ZodType<LeasePolicyUpdate> = message('LeasePolicyUpdate', {
  ...leaseDecision,
  bps: z.int().nonnegative().optional(),
})

export const leaseDecisions: z.ZodType<LeaseDecisions> = message('LeaseDecisions', {
  decisions: z.array(z.object(leaseDecision)).min(1).max(LEASE_DECISIONS_MAX),
})

export const ipPolicyUpdate: z.ZodType<IpPolicyUpdate> = message('IPPolicyUpdate', {
  ip: network,
  is_banned: z.boolean(),
  ...banDetails,
})

export const domainPolicyUpdate: z.ZodType<DomainPolicyUpdate> = message('DomainPolicyUpdate', {
  domain: normalized(BANNED_DOMAIN_MAX_CHARS, normalizeDomain, 'must be a domain'),
  is_banned: z.boolean(),
  ...banDetails,
})

export const relayPolicyUpdate: z.ZodType<RelayPolicyUpdate> = message('RelayPolicyUpdate', {
  relay: normalized(BANNED_RELAY_MAX_CHARS, normalizeRelay, 'must be an Ethereum address or an https URL'),
  is_banned: z.boolean(),
  ...banDetails,
})

export const namePolicyUpdate: z.ZodType<NamePolicyUpdate> = message('NamePolicyUpdate', {
  name: leaseName,
  address: normalized(
    ADDRESS_TEXT_MAX_CHARS,
    (value) => (value === '' ? '' : normalizeAddress(value)),
    'must be an Ethereum address, or empty',
    'invalid_address',
  ),
})

export const administratorRequest: z.ZodType<AdministratorRequest> = message('AdministratorRequest', {
  name: administratorName,
})

export const invitationRequest: z.ZodType<InvitationRequest> = message('InvitationRequest', {
  names: z.int().min(1).max(INVITED_NAMES_MAX),
  ttl: z.int().min(1).max(INVITATION_TTL_MAX_S).optional(),
  note: text(NOTE_MAX_CHARS).optional(),
})

export const withdrawInvitationRequest: z.ZodType<WithdrawInvitationRequest> = message(
  'WithdrawInvitationRequest',
  { id: text(SHORT_TEXT_MAX_CHARS) },
)

/** Discovery itself reads the descriptor, and counts why one is refused. */
export const announcement: z.ZodType<DiscoveryAnnouncement> = message('DiscoveryAnnouncement', {
  protocol_version: text(SHORT_TEXT_MAX_CHARS),
  descriptor: described(DESCRIPTOR_REFERENCE, z.unknown()) as z.ZodType<RelayDescriptor>,
})

function normalizeIdentityKey(key: string): string | undefined {
  const [name, address, ...rest] = key.split(':')
  if (name === undefined || address === undefined || rest.length > 0) return undefined
  const normal = { name: normalizeName(name), address: normalizeAddress(address) }
  return normal.name && normal.address ? identityKey(normal.name, normal.address) : undefined
}

/** RFC 3339 in UTC, without fractions of a second that say nothing. An offset may lead out of the years that it has. */
function normalizeTime(time: string): string | undefined {
  const read = z.iso.datetime({ offset: true }).safeParse(time)
  return z.iso.datetime().safeParse(read.success && new Date(read.data).toISOString()).data
}
