// Holds the limits of the ENS automation.

import { LEASE_TTL_MAX_S } from '@svc/protocol'
import { LEASES_MAX } from '../../core/lease/lease-registry.ts'

/** Hostnames with ENS records or with records to remove: two for each lease, and as many again to remove. */
export const ENS_NAMES_MAX: number = 4 * LEASES_MAX
/** Interval at which the relay polls the DNSSEC state until the provider says that it is active. */
export const DNSSEC_SYNC_MS: number = 5 * 60_000
/** Hostnames that one write adds to the file of published names. */
export const ENS_BATCH_NAMES = 64
/** Spare lines that may be appended to the file after it was replaced, beside one for each name that it then has. */
export const ENS_SPARE_LINES = 1_000
/** Size of the file of published names, in bytes; a longer one counts as damaged. A name takes at most 340 bytes. */
export const ENS_FILE_MAX_BYTES: number = 160 * 1024 * 1024
/** Time for leases from before a restart to come back before their records are removed: SDKs renew within it. */
export const ENS_RETURN_MS: number = LEASE_TTL_MAX_S * 1000
/** Time within which changes that are due one after another share a timer. */
export const TIMER_SLACK_MS = 20
/** Waiting hostnames for each millisecond of that time, so that checking all of them takes a small part of it. */
export const TIMER_NAMES_PER_MS = 100
