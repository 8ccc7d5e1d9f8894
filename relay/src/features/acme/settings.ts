// The settings of certificates by ACME: the authority, its terms, and how names are proven.

import { resolve } from 'node:path'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag, oneOf, positiveInteger } from '../../core/config/setting-values.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    acme: AcmeSettings
    /** What the ACME authority allows. */
    acmeRates: { ordersPerHour: number; certificatesPerWeek: number }
  }
}

/**
 * How names are proven to the authority; `auto`: by `dns-01` when the DNS provider can answer, otherwise by
 * `tls-alpn-01`.
 */
type AcmeChallenge = 'auto' | 'dns-01' | 'tls-alpn-01'

/** Which authority issues certificates, and how the relay proves names to it. */
export interface AcmeSettings {
  /** URL of the directory (RFC 8555 §7.1.1). */
  directory: string
  /** Address to which the authority may write; undefined: none. */
  email: string | undefined
  /** Undefined: the authority takes any account. */
  externalAccount: ExternalAccount | undefined
  /** PEM file with the roots of the directory's own TLS certificate; undefined: Node's roots. */
  caFile: string | undefined
  challenge: AcmeChallenge
}

/** The account of a customer at the authority, to which the relay's ACME account is bound (RFC 8555 §7.3.4). */
interface ExternalAccount {
  keyId: string
  /** Base64url. */
  hmacKey: string
}

const CHALLENGES: readonly AcmeChallenge[] = ['auto', 'dns-01', 'tls-alpn-01']
/** Directories that the setting accepts by name. */
const DIRECTORIES: Readonly<Record<string, string>> = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  staging: 'https://acme-staging-v02.api.letsencrypt.org/directory',
}
/** RFC 5321 §4.5.3.1.3: a path, which has two angle brackets around the address. */
const EMAIL_MAX_CHARS = 254

/** Met when the relay gets its certificates by ACME. */
export const MANAGED: Condition = {
  isMet: (_settings, isManaged) => isManaged,
  unmet: 'the relay gets no certificates by ACME',
}

const TABLE = {
  ACME_AGREE: {
    meaning:
      'true: you agree to the terms of service of the ACME authority, and the relay gets certificates there',
    default: 'false',
    parse: flag,
  },
  ACME_DIRECTORY: {
    needs: MANAGED,
    meaning:
      "ACME authority: letsencrypt, staging (Let's Encrypt's for tests), or the https URL of a directory",
    default: 'letsencrypt',
    parse: directory,
  },
  ACME_EMAIL: {
    needs: MANAGED,
    meaning: 'email address at which the ACME authority may reach you',
    unset: 'none',
    parse: emailAddress,
  },
  ACME_EAB_KID: {
    needs: MANAGED,
    meaning: 'key identifier from an ACME authority that only accepts accounts of its customers',
    unset: 'none',
    parse: keyIdentifier,
  },
  ACME_EAB_HMAC: {
    needs: MANAGED,
    meaning: 'secret that belongs to ACME_EAB_KID, in base64 for URLs, as the authority gave it to you',
    unset: 'none',
    parse: bindingKey,
  },
  ACME_CA: {
    needs: MANAGED,
    meaning: "PEM file with the roots of a private authority's directory",
    unset: 'the public roots',
    parse: (value) => resolve(value),
  },
  ACME_CHALLENGE: {
    needs: MANAGED,
    meaning: `how names are proven: one of ${CHALLENGES.join(', ')}; auto: dns-01 where the DNS provider can answer, else tls-alpn-01`,
    default: 'auto',
    parse: (value, name) => oneOf(name, value, CHALLENGES),
  },
  ACME_ORDERS_PER_HOUR: {
    needs: MANAGED,
    meaning: 'orders that the relay makes at the ACME authority in an hour',
    default: '100',
    parse: positiveInteger,
  },
  ACME_CERTIFICATES_PER_WEEK: {
    needs: MANAGED,
    meaning:
      'certificates for names without one that the relay orders in a week; a fifth is kept for the root host',
    default: '50',
    parse: positiveInteger,
  },
} satisfies SettingsTable

export const acmeSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => {
    const { read, optional } = reader.of(TABLE)
    return {
      isAcmeAgreed: read('ACME_AGREE'),
      acme: {
        directory: read('ACME_DIRECTORY'),
        email: optional('ACME_EMAIL'),
        externalAccount: possibleBinding(optional('ACME_EAB_KID'), optional('ACME_EAB_HMAC')),
        caFile: optional('ACME_CA'),
        challenge: read('ACME_CHALLENGE'),
      },
      acmeRates: {
        ordersPerHour: read('ACME_ORDERS_PER_HOUR'),
        certificatesPerWeek: read('ACME_CERTIFICATES_PER_WEEK'),
      },
    }
  },
}

function directory(value: string, setting: string): string {
  const known = Object.hasOwn(DIRECTORIES, value) ? DIRECTORIES[value] : undefined
  if (known !== undefined) return known
  const url = URL.parse(value)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new SettingsError(setting, `"${value}" is not letsencrypt, staging or an https URL`)
  return url.href
}

/** Parses an address that can be a `mailto:` URL without header fields (RFC 8555 §7.3). */
function emailAddress(value: string, setting: string): string {
  if (value.length > EMAIL_MAX_CHARS || !/^[^\s@,?&%<>]+@[^\s@,?&%<>]+$/.test(value))
    throw new SettingsError(setting, `"${value}" is not one email address`)
  return value
}

const KEY_IDENTIFIER_MAX_CHARS = 1024
/** HMAC-SHA-256 accepts a key of any length; one shorter than this is a mistake. */
const BINDING_KEY_MIN_BYTES = 16

function keyIdentifier(value: string, setting: string): string {
  if (value.length > KEY_IDENTIFIER_MAX_CHARS || !/^[\x21-\x7e]+$/.test(value))
    throw new SettingsError(setting, 'has characters that no key identifier has, or too many of them')
  return value
}

/** The value is a secret: no message contains it. */
function bindingKey(value: string, setting: string): string {
  const isBase64 = /^[\w+/-]+={0,2}$/.test(value)
  const key = Buffer.from(value, 'base64url')
  if (!isBase64 || key.length < BINDING_KEY_MIN_BYTES)
    throw new SettingsError(
      setting,
      `is no key in base64 for URLs, of ${BINDING_KEY_MIN_BYTES} bytes or more`,
    )
  return key.toString('base64url')
}

/** @throws SettingsError when only one of the two is set */
function possibleBinding(
  keyId: string | undefined,
  hmacKey: string | undefined,
): ExternalAccount | undefined {
  if (keyId === undefined && hmacKey === undefined) return undefined
  if (keyId === undefined || hmacKey === undefined)
    throw new SettingsError(
      keyId === undefined ? 'ACME_EAB_KID' : 'ACME_EAB_HMAC',
      'ACME_EAB_KID and ACME_EAB_HMAC must both be set',
    )
  return { keyId, hmacKey }
}
