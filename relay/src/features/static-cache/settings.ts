// The settings of the static cache.

import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag, positiveInteger } from '../../core/config/setting-values.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    cache: CacheSettings
  }
}

export interface CacheSettings {
  isEnabled: boolean
  /** Bytes of the disk that the cache may use, uploads and files that are still being read included. */
  bytes: number
  /** Longest time for which a snapshot is served without its site, in seconds; also that of sites that name none. */
  ttlMaxS: number
}

/** Default of `STATIC_CACHE_TTL_MAX`: how long a snapshot is served without its site, in seconds. */
const CACHE_TTL_MAX_S = 86_400
const ENABLED: Condition = {
  isMet: ({ cache }) => cache.isEnabled,
  unmet: 'STATIC_CACHE_ENABLED is false',
}

const TABLE = {
  STATIC_CACHE_ENABLED: {
    meaning: 'whether the relay stores and serves files of sites that ask for it: for those it ends TLS',
    default: 'false',
    parse: flag,
  },
  STATIC_CACHE_BYTES: {
    needs: ENABLED,
    meaning: 'bytes of the disk that stored files may use, uploads included',
    default: `${1024 * 1024 * 1024}`,
    parse: byteCount,
  },
  STATIC_CACHE_TTL_MAX: {
    needs: ENABLED,
    meaning: 'longest time for which stored files are served without their site, in seconds',
    default: `${CACHE_TTL_MAX_S}`,
    parse: positiveInteger,
  },
} satisfies SettingsTable

export const cacheSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => {
    const { read } = reader.of(TABLE)
    return {
      cache: {
        isEnabled: read('STATIC_CACHE_ENABLED'),
        bytes: read('STATIC_CACHE_BYTES'),
        ttlMaxS: read('STATIC_CACHE_TTL_MAX'),
      },
    }
  },
}

/** A size in bytes, which may exceed 32 bits. */
function byteCount(value: string, setting: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value))
    throw new SettingsError(setting, `"${value}" is not a whole number of bytes from 1 to 999999999999999`)
  return Number(value)
}
