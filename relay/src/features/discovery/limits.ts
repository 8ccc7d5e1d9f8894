// The limits of discovery.

import type { DiscoveryLimits } from './settings.ts'

export const DISCOVERY_LIMITS: DiscoveryLimits = {
  pollMs: 120_000,
  earlyMs: 60_000,
  queryMs: 5_000,
  // The candidates of both kinds together are as many as the table can hold.
  candidatesMax: 512,
  dialsPerNetwork: { perMinute: 16, burst: 32 },
  siteResultMs: 5_000,
}

/**
 * Largest share of the interval that is randomly added to it, so that relays that started together do not stay in step.
 */
export const POLL_JITTER = 0.25
/** Most relays asked in one interval: a full table is asked in 4 minutes, within the lifetime of a descriptor. */
export const POLLS_PER_INTERVAL_MAX = 512
/** Relays that are asked at once: even if each of a full table took its 5 s, asking all would take 5.3 minutes. */
export const POLLS_PARALLEL_MAX = 16
/**
 * Limit of the back-off: a relay that does not answer is asked after 2 times the interval, then 4 times, up to this
 * many times.
 */
export const POLL_BACKOFF_MAX = 5
/** Shortest pause between two polls of one relay that does not answer, soon after the start. */
export const EARLY_PAUSE_MIN_MS = 2_000
/** The same for each relay in the table: a full table is not asked early. */
export const EARLY_PAUSE_PER_RELAY_MS = 100
/** A relay with this many failures in a row is no longer passed on. */
export const POLL_FAILURES_MAX = 2
/** How often per interval the relay checks which relays are due. */
export const POLL_TICKS = 120
/** Relays per interval that are asked for their whole lists; the others are asked only for themselves. */
export const WHOLE_LISTS_PER_INTERVAL = 8
/** Bytes of an answer with a list, once decompressed. The largest answer of this software is smaller. */
export const LIST_MAX_BYTES: number = 2 * 1024 * 1024
/**
 * JSON values in an answer. A relay of this software sends 15 for each of 1,025 relays, and a few more. Two mebibytes
 * of brackets would take the parser a hundred times as long as a list, and delay all visitors.
 */
export const ANSWER_MAX_VALUES = 40_000
/** Bytes of any other answer. */
export const ANSWER_MAX_BYTES: number = 64 * 1024
/**
 * Interval at which a bootstrap relay is asked for its whole list when the last one had little new: with 1,000 relays a
 * list has 160 KB, compressed, and each of them asks for it.
 */
export const BOOTSTRAP_LIST_MS: number = 10 * 60_000
/** Share of unknown relays above which a list counts as having much new. */
export const NEWS_SHARE = 0.1
/**
 * Interval at which the relay announces itself to a bootstrap relay that lists it. If the relay is missing from a whole
 * list, it announces itself again.
 */
export const ANNOUNCE_MS: number = 10 * 60_000
/** Longest validity of a descriptor. */
export const DESCRIPTOR_VALID_MS: number = 10 * 60_000
/** Age at which the relay signs a new descriptor of itself, when somebody asks: a signature costs a millisecond. */
export const DESCRIPTOR_REFRESH_MS = 10_000
/** Time by which another relay's clock may be ahead. */
export const CLOCK_SKEW_MS = 120_000
/** Known relays, including those that have not answered recently. As many public keys are remembered, 64 bytes each. */
export const RELAYS_MAX = 1024
/** The same in one network: an IPv4 /24 or an IPv6 /56. */
export const RELAYS_PER_NETWORK_MAX = 64
/** Time for which an origin stays bound to its address after the descriptor has expired. */
export const BINDING_MS: number = 24 * 60 * 60_000
/** Candidates that are checked at once, for each of the two kinds. */
export const LOOKS_PARALLEL_MAX = 8
/** The same from one source, so that slow ones do not delay other sources. */
export const LOOKS_PER_SOURCE_MAX = 2
/**
 * Rate of such checks, for each of the two kinds: each costs 3 ms of a thread for the signature, and up to two
 * requests.
 */
export const LOOK_RATE: { perMinute: number; burst: number } = { perMinute: 240, burst: 64 }
/** Counters of dials, by network, 8 bytes each. Networks with the same counter share its dials. */
export const DIAL_SLOTS = 4096
/** Recently checked origins that the relay remembers, so that it checks each once in an interval. */
export const LOOKED_AT_MAX = 4096
/** Relays of other protocol versions that are remembered. */
export const INCOMPATIBLE_MAX = 64
/** A protocol version in UTF-16 code units. */
export const VERSION_MAX_CHARS = 32
/** The release that another relay names, in UTF-16 code units. */
export const RELEASE_MAX_CHARS = 64
/** The URL of a relay in UTF-16 code units: the scheme, a host name and a port. */
export const ORIGIN_MAX_CHARS = 256
/** Any other text of a descriptor. The signature has 88 characters, the key of the overlay 44. */
export const DESCRIPTOR_TEXT_MAX_CHARS = 96
/**
 * Time between two writes of the file of known relays, per relay in it: a full table of 1 MiB is written every 5 s at
 * most.
 */
export const STATE_WRITE_PER_RELAY_MS = 5
/** Interval at which the relay checks whether the file is old. */
export const STATE_LOOK_MS = 60_000
/** Time after which the file is written again although no relay came or went, to update its times. */
export const STATE_REFRESH_MS: number = 10 * 60_000
/** Largest size of the file; a longer one counts as damaged. A full table takes 1 MiB. */
export const STATE_FILE_MAX_BYTES: number = 4 * 1024 * 1024
/** Other relays that one search for a site asks, so that a visitor's request costs this relay and others a bounded number. */
export const SITE_QUESTIONS_MAX = 16
/** Relays that one search asks at once. */
export const SITE_QUESTIONS_PARALLEL_MAX = 8
/** Time for one relay's answer, in milliseconds: a visitor waits. */
export const SITE_QUESTION_DEADLINE_MS = 2_000
/** Bytes of that answer. */
export const SITE_ANSWER_MAX_BYTES = 1024
/** Searches at once. */
export const SITE_SEARCHES_PARALLEL_MAX = 8
/** The same for sites which this relay has not found before: a flood of invented ones leaves the rest free. */
export const UNKNOWN_SITE_SEARCHES_PARALLEL_MAX = 6
/**
 * Sites for which the relay remembers where they were last found, and which relays were asked. Each takes some 500
 * bytes.
 */
export const SITES_REMEMBERED_MAX = 1024
