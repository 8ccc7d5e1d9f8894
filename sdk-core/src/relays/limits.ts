// Holds the limits of sites at several relays, as ../limits.ts does for the rest.

/** The list of the relays that a relay knows may have this many bytes: the fullest one of 1,024 relays has some 500 KB. */
export const LIST_MAX_BYTES: number = 2 * 1024 * 1024
/** A relay has this long to name the relays that it knows. */
export const LIST_DEADLINE_MS = 5_000
/** So many descriptors of one list are read, chosen at random: as many as a relay knows others. */
export const DESCRIPTORS_READ_MAX = 1024
/** So many signatures of one list are checked: each takes a millisecond or more. */
export const SIGNATURES_CHECKED_MAX = 64
/** After this many signatures in a row the SDK lets the page do other work. */
export const SIGNATURES_IN_A_ROW = 8
/** A search measures the distance of this many relays. */
export const DISCOVERED_PROBES_MAX = 16
/** So many relays are measured at once. */
export const PROBES_PARALLEL_MAX = 8
/**
 * Each of the two requests that show whether a relay is there, and how far away, may take this long: a slower relay is of no
 * use.
 */
export const HEALTH_DEADLINE_MS = 3_000
/** A search uses what answered after this long, and goes on meanwhile. */
export const PROBE_PATIENCE_MS = 1_000
/** A search asks this many relays for their lists, the first time. */
export const LISTS_FIRST_MAX = 4
/** Later searches ask this many, in turn: a full list has half a megabyte. */
export const LISTS_MAX = 2
/** The SDK looks for relays again after this long, or up to a half more, so that it knows some that are there. */
export const SEARCH_INTERVAL_MS: number = 10 * 60_000
/** The time after which the SDK searches again when a relay is missing and nobody named another. Each time without success doubles it. */
export const SEARCH_RETRY_FIRST_MS = 15_000
/** So many connections of a relay count as much as a millisecond of distance. */
export const LOAD_CONNECTIONS_PER_MS = 100
/** So many bytes a second of a relay's visitors count as much as a millisecond of distance: 10 Mbit/s. */
export const LOAD_BYTES_PER_MS = 1_250_000
/** Connections count at most this many milliseconds, and so do bytes: what a relay says of itself weighs no more than an ocean. */
export const LOAD_COST_MAX_MS = 100
/** A discovered relay whose connection is lost has this long to come back before another one is taken. */
export const REPLACE_AFTER_MS = 2_000
/** A relay that was just taken has this long to bring the site online before one more is taken. */
export const TAKE_PATIENCE_MS = 3_000
/** After this long, a relay that never brought the site online is given up. */
export const TAKE_DEADLINE_MS = 15_000
/** A discovered relay may let the site wait this long for its certificate. */
export const CERTIFICATE_PATIENCE_MS = 30_000
/** So many relays more than are missing may be tried at once. */
export const ATTEMPTS_SPARE = 2
/** A discovered relay that failed is not taken again for this long, or a random half less. */
export const FAILED_PAUSE_FIRST_MS = 30_000
/** Each further failure doubles that, up to this. */
export const FAILED_PAUSE_MAX_MS: number = 30 * 60_000
/** After a relay had the site online for this long, its earlier failures do not count. */
export const FORGIVEN_AFTER_MS: number = 10 * 60_000
/** So many relays that failed are remembered. */
export const FAILED_RELAYS_MAX = 64
/** `discover` is at most this: each relay has a connection, ready streams and a lease of its own. */
export const DISCOVER_MAX = 8
/** The number of gateways that the SDK tries for one carrier, before it waits as for a relay that cannot be reached. */
export const GATEWAYS_TRIED_MAX = 4
/**
 * The milliseconds by which the clock of this process may be ahead of the time at which a gateway's descriptor ends: it may be
 * wrong, but a descriptor from a relay that says a wrong time itself must not be good for ever.
 */
export const GATEWAY_CLOCK_SKEW_MS: number = 24 * 3_600_000
/** The gateways of which a site remembers how new their descriptors were. It forgets the one that it met longest ago. */
export const GATEWAYS_REMEMBERED_MAX = 1024
