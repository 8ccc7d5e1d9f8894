// The limits of the site's part of the static cache. A page loads them later than the rest.

import { CACHE_FILES_MAX, CACHE_UPLOAD_DEADLINE_MS } from '@svc/protocol'

/** The SDK looks this often whether files of the option `cache` changed, and whether the relay still has them. */
export const CACHE_LOOK_MS = 30_000
/** After a failure of the relay the SDK tries again after this long, or up to half less at random. */
export const CACHE_RETRY_FIRST_MS = 5_000
/** Each further failure doubles the pause, up to this: a full relay may have room when snapshots expire. */
export const CACHE_RETRY_MAX_MS: number = 5 * 60_000
/** The SDK reports a busy relay when it failed this many times in a row. */
export const CACHE_FAILURES_TOLD = 2
/**
 * The SDK opens at most this many folders below the given one: twice as many as a snapshot may have files. A
 * symbolic link to a parent folder would give infinitely many.
 */
export const CACHE_FOLDERS_MAX: number = 2 * CACHE_FILES_MAX
/** The deadline of an upload: 15 s after the relay's own, so that its answer gives the reason. */
export const CACHE_PUT_DEADLINE_MS: number = CACHE_UPLOAD_DEADLINE_MS + 15_000
