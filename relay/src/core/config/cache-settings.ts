// The settings of the static cache.

import { STATIC_CACHE } from './features.ts'
import type { Setting } from './setting.ts'
import { byteCount, flag, positiveInteger } from './setting-values.ts'

/** Default of `STATIC_CACHE_TTL_MAX`: how long a snapshot is served without its site, in seconds. */
const CACHE_TTL_MAX_S = 86_400

export interface CacheSettings {
  isEnabled: boolean
  /** Bytes of the disk that the cache may use, uploads and files that are still being read included. */
  bytes: number
  /** Longest time for which a snapshot is served without its site, in seconds; also that of sites that name none. */
  ttlMaxS: number
}

interface CacheTable {
  STATIC_CACHE_ENABLED: Setting<boolean>
  STATIC_CACHE_BYTES: Setting<number>
  STATIC_CACHE_TTL_MAX: Setting<number>
}

/** The rows of these settings, in the order in which `--help` lists them. */
export const CACHE_TABLE: CacheTable = {
  STATIC_CACHE_ENABLED: {
    meaning: 'whether the relay stores and serves files of sites that ask for it: for those it ends TLS',
    default: 'false',
    parse: flag,
  },
  STATIC_CACHE_BYTES: {
    feature: STATIC_CACHE,
    meaning: 'bytes of the disk that stored files may use, uploads included',
    default: `${1024 * 1024 * 1024}`,
    parse: byteCount,
  },
  STATIC_CACHE_TTL_MAX: {
    feature: STATIC_CACHE,
    meaning: 'longest time for which stored files are served without their site, in seconds',
    default: `${CACHE_TTL_MAX_S}`,
    parse: positiveInteger,
  },
}
