// The setting of certificates for sites' own keys.

import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'
import { oneOf } from '../../core/config/setting-values.ts'
import { MANAGED } from '../acme/index.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** Undefined: `approved` when the relay has a wildcard certificate, otherwise `all`. */
    siteCertificates: SiteCertificateChoice | undefined
  }
}

const CHOICES = ['off', 'approved', 'all'] as const

/**
 * Which sites get certificates of their own.
 * - `off`: none
 * - `approved`: those whose identity an administrator approved by name
 * - `all`: all that visitors may reach
 */
type SiteCertificateChoice = (typeof CHOICES)[number]

const TABLE = {
  SITE_CERTIFICATES: {
    needs: MANAGED,
    meaning: `which sites get certificates of their own: ${CHOICES.join(', ')}`,
    unset: 'approved where the relay has a wildcard certificate, else all',
    parse: (value, name) => oneOf(name, value, CHOICES),
  },
} satisfies SettingsTable

export const siteCertificateSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => ({ siteCertificates: reader.of(TABLE).optional('SITE_CERTIFICATES') }),
}
