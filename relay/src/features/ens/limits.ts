// Holds the limits of the ENS automation.

import { LEASE_TTL_MAX_S } from '@svc/protocol'
import { LEASES_MAX } from '../../core/lease/lease-registry.ts'

/** Hostnames with ENS records, or whose records wait to be removed: two of each lease, and as many again to be removed. */
export const ENS_NAMES_MAX: number = 4 * LEASES_MAX
/** Interval at which the relay looks at DNSSEC again until the provider says that it is active. */
export const DNSSEC_SYNC_MS: number = 5 * 60_000
/** Hostnames that one write adds to the file of published names. */
export const ENS_BATCH_NAMES = 64
/** Lines that the file may have beside one for each name when it was replaced, and one more for each of these names. */
export const ENS_SPARE_LINES = 1_000
/** The file of published names; a longer one counts as damaged. A name takes 340 bytes at most. */
export const ENS_FILE_MAX_BYTES: number = 160 * 1024 * 1024
/** Time that leases of before a restart have to come back before their records are removed: SDKs renew within it. */
export const ENS_RETURN_MS: number = LEASE_TTL_MAX_S * 1000
/** Time by which changes that are due soon after one another share a timer. */
export const TIMER_SLACK_MS = 20
/** Hostnames that wait for each millisecond of that time: a look at all of them takes a small part of it. */
export const TIMER_NAMES_PER_MS = 100
