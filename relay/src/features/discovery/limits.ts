// Holds the limits of discovery.

import type { DiscoveryLimits } from './settings.ts'

export const DISCOVERY_LIMITS: DiscoveryLimits = {
  pollMs: 120_000,
  earlyMs: 60_000,
  queryMs: 5_000,
  // Those of both kinds together are as many as the table has room for.
  candidatesMax: 512,
  dialsPerNetwork: { perMinute: 16, burst: 32 },
  siteResultMs: 5_000,
}

/** Part of the interval by which it is longer at random, so that relays that started together do not stay together. */
export const POLL_JITTER = 0.25
/** Relays that are asked in one interval at most: a table that is full is asked in 4 minutes, within the time of a descriptor. */
export const POLLS_PER_INTERVAL_MAX = 512
/** Relays that are asked at once: if each of a full table took all of its 5 s, it would still be asked in 5.3 minutes. */
export const POLLS_PARALLEL_MAX = 16
/** A relay that does not answer is asked after twice the interval, then after 4 times, and so on up to this. */
export const POLL_BACKOFF_MAX = 5
/** Shortest pause between two questions to one relay that does not answer, early after the start. */
export const EARLY_PAUSE_MIN_MS = 2_000
/** The same for each relay that is asked: a full table is not asked early. */
export const EARLY_PAUSE_PER_RELAY_MS = 100
/** With this many failures in a row a relay is not passed on any more. */
export const POLL_FAILURES_MAX = 2
/** The number of times in an interval at which the relay looks whose turn it is. */
export const POLL_TICKS = 120
/** Relays of each interval that are asked for all that they know; the others are asked for themselves alone. */
export const WHOLE_LISTS_PER_INTERVAL = 8
/** Bytes of an answer with a list, once it is decompressed. The fullest answer of a relay of this software has less. */
export const LIST_MAX_BYTES: number = 2 * 1024 * 1024
/**
 * Values in an answer. A relay of this software has 15 for each of 1,025, and some. Two mebibytes of brackets would take the parser a
 * hundred times as long as a list, and all visitors would wait.
 */
export const ANSWER_MAX_VALUES = 40_000
/** Bytes of any other answer. */
export const ANSWER_MAX_BYTES: number = 64 * 1024
/**
 * Interval at which a bootstrap relay is asked for all that it knows, where its last list had little that is new: with 1,000 relays a list
 * has 160 KB, compressed, and each of them asks.
 */
export const BOOTSTRAP_LIST_MS: number = 10 * 60_000
/** Part of a list beyond which it has much that is new. */
export const NEWS_SHARE = 0.1
/** Interval at which the relay announces itself to a bootstrap relay that lists it. One that does not is told with each whole list. */
export const ANNOUNCE_MS: number = 10 * 60_000
/** Time for which a descriptor is valid at most. */
export const DESCRIPTOR_VALID_MS: number = 10 * 60_000
/** Age at which the relay signs a new descriptor of itself, when somebody asks: a signature costs a millisecond. */
export const DESCRIPTOR_REFRESH_MS = 10_000
/** Time by which another relay's clock may be ahead. */
export const CLOCK_SKEW_MS = 120_000
/** Relays that are known, those that have not answered lately included. As many public keys are remembered, 64 bytes each. */
export const RELAYS_MAX = 1024
/** The same with addresses in one network: an IPv4 /24 or an IPv6 /56. */
export const RELAYS_PER_NETWORK_MAX = 64
/** The time for which an origin stays with its address after the descriptor has expired. */
export const BINDING_MS: number = 24 * 60 * 60_000
/** Candidates that are looked at at once, of each of the two kinds. */
export const LOOKS_PARALLEL_MAX = 8
/** The same of one source, so that slow ones hold up no other source. */
export const LOOKS_PER_SOURCE_MAX = 2
/** Such looks, of each of the two kinds: each costs 3 ms of a thread for the signature, and up to two requests. */
export const LOOK_RATE: { perMinute: number; burst: number } = { perMinute: 240, burst: 64 }
/** Counters of dials, by network. Networks that share one share its dials. Each takes 8 bytes. */
export const DIAL_SLOTS = 4096
/** Origins of which the relay remembers that it looked at them, so that it does so once in an interval. */
export const LOOKED_AT_MAX = 4096
/** Relays of other protocol versions that are remembered. */
export const INCOMPATIBLE_MAX = 64
/** A protocol version in UTF-16 code units. */
export const VERSION_MAX_CHARS = 32
/** A release, which another relay names, in UTF-16 code units. */
export const RELEASE_MAX_CHARS = 64
/** The URL of a relay in UTF-16 code units: the scheme, a host name and a port. */
export const ORIGIN_MAX_CHARS = 256
/** Any other text of a descriptor. The signature has 88 characters, the key of the overlay 44. */
export const DESCRIPTOR_TEXT_MAX_CHARS = 96
/** Time between two writes of the file of known relays, for each of them: a full table of 1 MiB is written every 5 s at most. */
export const STATE_WRITE_PER_RELAY_MS = 5
/** Interval at which the relay looks whether the file is old. */
export const STATE_LOOK_MS = 60_000
/** Time after which the file is written again when no relay came or went, for the times in it. */
export const STATE_REFRESH_MS: number = 10 * 60_000
/** A longer file counts as damaged. A full table takes 1 MiB. */
export const STATE_FILE_MAX_BYTES: number = 4 * 1024 * 1024
/** Other relays that one search for a site asks, so that a visitor's request costs this relay and others a bounded number. */
export const SITE_QUESTIONS_MAX = 16
/** The same that one search asks at once. */
export const SITE_QUESTIONS_PARALLEL_MAX = 8
/** Time for the answer of one of them, in milliseconds: a visitor waits. */
export const SITE_QUESTION_DEADLINE_MS = 2_000
/** Bytes of that answer. */
export const SITE_ANSWER_MAX_BYTES = 1024
/** Searches at once. */
export const SITE_SEARCHES_PARALLEL_MAX = 8
/** Those of them that may be for sites which this relay has not found before: a flood of invented ones leaves the rest free. */
export const UNKNOWN_SITE_SEARCHES_PARALLEL_MAX = 6
/** Sites of which the relay remembers where they were found last, and which relays were asked. Each takes some 500 bytes. */
export const SITES_REMEMBERED_MAX = 1024
