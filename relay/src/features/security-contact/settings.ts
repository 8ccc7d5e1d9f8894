// The setting of the security contact.

import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** URIs by which the operator is told of vulnerabilities, the preferred one first. */
    securityContacts: readonly string[]
  }
}

const EMAIL = /^[^\s@:/,]+@[^\s@:/,]+$/
const SCHEMES = ['https:', 'mailto:', 'tel:']

const TABLE = {
  SECURITY_CONTACT: {
    meaning:
      'contacts for reports of vulnerabilities, in /.well-known/security.txt: e-mail addresses or https URLs, separated by commas',
    unset: 'none',
    parse: (value, name) => value.split(',').map((part) => contactOf(part.trim(), name)),
  },
} satisfies SettingsTable

export const securityContactSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => ({ securityContacts: reader.of(TABLE).optional('SECURITY_CONTACT') ?? [] }),
}

/** Returns a contact as a URI (RFC 9116, §2.5.3). */
function contactOf(value: string, name: string): string {
  const url = URL.parse(EMAIL.test(value) ? `mailto:${value}` : value)
  if (url === null || !SCHEMES.includes(url.protocol))
    throw new SettingsError(
      name,
      `${JSON.stringify(value)} is no e-mail address, and no https, mailto or tel URL`,
    )
  return url.href
}
