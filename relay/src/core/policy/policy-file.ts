// Parses policy.json, and creates the policy of a relay that starts for the first time.

import {
  APPROVAL_MODES,
  type ApprovalMode,
  type BanDetails,
  type Invitation,
  normalizeAddress,
  normalizeName,
} from '@svc/protocol'
import { NETWORK_MAX_CHARS, normalizeNetwork } from '../client-address/ip-networks.ts'
import { normalized, parseWith, text, z } from '../config/schema.ts'
import type { PortGates } from '../config/settings.ts'
import { tokenDigest } from './access-tokens.ts'
import { BANNED_DOMAIN_MAX_CHARS, normalizeDomain } from './banned-domains.ts'
import { BANNED_RELAY_MAX_CHARS, normalizeRelay } from './banned-relays.ts'
import { DEFAULT_RESERVED_NAMES, RESERVED_NAMES_MAX } from './reserved-names.ts'

/** A lease name in UTF-16 code units, with blanks around it, which the relay removes. */
const NAME_MAX_CHARS = 64
/** An Ethereum address. */
const ADDRESS_MAX_CHARS = 42
/** Names that are pinned to an identity. */
export const PINNED_NAMES_MAX = 1000
/** Invitations, also those that are used up or have expired. */
export const INVITATIONS_MAX = 1000
/** Names that have come in with all of them: a megabyte of the policy, which is written with each. */
export const INVITED_NAMES_MAX = 10_000

export interface PolicyFile {
  approval_mode: ApprovalMode
  approved_identity_keys: string[]
  denied_identity_keys: string[]
  banned_identity_keys: string[]
  /** Addresses and networks in the form of `normalizeNetwork`. */
  banned_ips: string[]
  /** Addresses and origins of relays, in the form of `normalizeRelay`. @default none */
  banned_relays: string[]
  /** Custom domains, each with all names below it, in lower case. @default none */
  banned_domains: string[]
  /** What is known of the bans, by their list and what is banned. @default nothing */
  ban_details: BanRecords
  /** Identity key → bytes per second, above 0. */
  identity_bps: Record<string, number>
  udp_enabled: boolean
  udp_max_leases: number
  tcp_port_enabled: boolean
  tcp_port_max_leases: number
  landing_page_enabled: boolean
  /** Normalized lease names that no site gets. @default the names of reserved-names.ts */
  reserved_names: string[]
  /** Normalized lease name → address in lower case of the one identity that gets it. @default none */
  pinned_names: Record<string, string>
  /** Administrators beside the holder of ADMIN_TOKEN, by name. @default none */
  administrators: Record<string, StoredAdministrator>
  /** @default none */
  invitations: StoredInvitation[]
}

/** The lists of the policy that have bans. */
export type BanField = 'banned_identity_keys' | 'banned_ips' | 'banned_relays' | 'banned_domains'
type BanRecords = { [Field in BanField]?: Record<string, BanDetails> | undefined }

export interface StoredInvitation extends Invitation {
  /** In hex. */
  token_sha256: string
}

interface StoredAdministrator {
  /** In hex. */
  token_sha256: string
  /** ISO 8601. */
  created_at: string
}

const ADMINISTRATOR_NAME_MAX_CHARS = 63
/** What an administrator may be called. */
export const administratorName: z.ZodString = text(ADMINISTRATOR_NAME_MAX_CHARS).regex(
  /^[a-z0-9][a-z0-9._-]*$/,
  'must be 1 to 63 of a-z, 0-9, dot, underscore and hyphen',
)

const storedInvitation: z.ZodType<StoredInvitation> = z.object({
  id: z.string().min(1),
  token_sha256: tokenDigest,
  names: z.int().positive(),
  identity_keys: z.array(z.string()),
  expires_at: z.iso.datetime().optional(),
  note: z.string(),
  created_at: z.iso.datetime(),
})

const bans = z
  .record(
    z.string(),
    z.object({
      reason: z.string().optional(),
      until: z.iso.datetime().optional(),
      at: z.iso.datetime(),
      by: z.string(),
    }),
  )
  .optional()

const count = z.int().nonnegative()
const keys = z.array(z.string())
/**
 * A missing or null field has the value of a first start, with closed ports. Only `approval_mode` is required: a file
 * that lost it lost its decisions, too. Unknown fields are kept.
 */
const schema: z.ZodType<PolicyFile> = z.looseObject({
  approval_mode: z.enum(APPROVAL_MODES),
  approved_identity_keys: orElse(keys, () => []),
  denied_identity_keys: orElse(keys, () => []),
  banned_identity_keys: orElse(keys, () => []),
  banned_ips: orElse(
    uniqueList(NETWORK_MAX_CHARS, normalizeNetwork, 'is not an IP address or CIDR range'),
    () => [],
  ),
  banned_relays: orElse(
    uniqueList(BANNED_RELAY_MAX_CHARS, normalizeRelay, 'is not an address or an https URL'),
    () => [],
  ),
  banned_domains: orElse(uniqueList(BANNED_DOMAIN_MAX_CHARS, normalizeDomain, 'is not a domain'), () => []),
  ban_details: orElse(
    z.object({ banned_identity_keys: bans, banned_ips: bans, banned_relays: bans, banned_domains: bans }),
    () => ({}),
  ),
  identity_bps: orElse(z.record(z.string(), z.int().positive()), () => ({})),
  udp_enabled: orElse(z.boolean(), () => false),
  udp_max_leases: orElse(count, () => 0),
  tcp_port_enabled: orElse(z.boolean(), () => false),
  tcp_port_max_leases: orElse(count, () => 0),
  landing_page_enabled: orElse(z.boolean(), () => true),
  reserved_names: orElse(
    uniqueList(NAME_MAX_CHARS, normalizeName, 'is not a name').refine(
      (names) => names.length <= RESERVED_NAMES_MAX,
      `has more than ${RESERVED_NAMES_MAX} names`,
    ),
    () => [...DEFAULT_RESERVED_NAMES],
  ),
  pinned_names: orElse(
    z
      .record(
        normalized(NAME_MAX_CHARS, normalizeName, 'is not a name'),
        normalized(ADDRESS_MAX_CHARS, normalizeAddress, 'is not an Ethereum address'),
      )
      .refine(
        (pinned) => Object.keys(pinned).length <= PINNED_NAMES_MAX,
        `has more than ${PINNED_NAMES_MAX} names`,
      ),
    () => ({}),
  ),
  administrators: orElse(
    z.record(administratorName, z.object({ token_sha256: tokenDigest, created_at: z.iso.datetime() })),
    () => ({}),
  ),
  invitations: orElse(z.array(storedInvitation).max(INVITATIONS_MAX), () => []),
})

/** Other relays of the family leave empty lists out, or write null. */
function orElse<T>(field: z.ZodType<T>, make: () => T) {
  return field.nullish().transform((value) => value ?? make())
}

/** A list of distinct members in the form of `normalize`. */
function uniqueList(maxChars: number, normalize: (text: string) => string | undefined, fault: string) {
  return z.array(normalized(maxChars, normalize, fault)).transform((members) => [...new Set(members)])
}

/** @throws RelayError with the invalid field's name, SyntaxError for invalid JSON */
export function parsePolicyFile(text: string): PolicyFile {
  return parseWith(schema, JSON.parse(text))
}

/** Returns the fields that the relay does not know, which it keeps and ignores. */
export function unknownFieldsOf(file: PolicyFile): string[] {
  const known = initialPolicy({ tcp: false, udp: false })
  return Object.keys(file).filter((name) => !Object.hasOwn(known, name))
}

export function initialPolicy(gates: PortGates, mode: ApprovalMode = 'auto'): PolicyFile {
  return {
    approval_mode: mode,
    approved_identity_keys: [],
    denied_identity_keys: [],
    banned_identity_keys: [],
    banned_ips: [],
    banned_relays: [],
    banned_domains: [],
    ban_details: {},
    identity_bps: {},
    udp_enabled: gates.udp,
    udp_max_leases: 0,
    tcp_port_enabled: gates.tcp,
    tcp_port_max_leases: 0,
    landing_page_enabled: true,
    reserved_names: [...DEFAULT_RESERVED_NAMES],
    pinned_names: {},
    administrators: {},
    invitations: [],
  }
}
