// Holds the limits of the site's part of the static cache, as ../limits.ts does for what a page downloads at once.

import { CACHE_FILES_MAX, CACHE_UPLOAD_DEADLINE_MS } from '@svc/protocol'
import { CONTROL_DEADLINE_MS } from '../limits.ts'

/** The SDK looks this often whether files of the option `cache` changed, and whether the relay still has them. */
export const CACHE_LOOK_MS = 30_000
/** After a failure of the relay the SDK looks again after this long, or a random half less. */
export const CACHE_RETRY_FIRST_MS = 5_000
/** Each further failure doubles that, up to this: a relay that is full may have room when snapshots expire. */
export const CACHE_RETRY_MAX_MS: number = 5 * 60_000
/** A relay that is busy is asked again, and reported when it failed this many times in a row. */
export const CACHE_FAILURES_TOLD = 2
/**
 * A folder has at most this many folders in and below it that are looked into: twice as many as a snapshot has files. A
 * symbolic link to a folder above makes endlessly many.
 */
export const CACHE_FOLDERS_MAX: number = 2 * CACHE_FILES_MAX
/** The upload of all files may take this long: the relay's own deadline comes first, and its answer says so. */
export const CACHE_PUT_DEADLINE_MS: number = CACHE_UPLOAD_DEADLINE_MS + CONTROL_DEADLINE_MS
