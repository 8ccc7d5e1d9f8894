// The limits of sites at several relays.

/** The largest list of known relays, in bytes: a full one of 1,024 relays has about 500 KB. */
export const LIST_MAX_BYTES: number = 2 * 1024 * 1024
/** The deadline for a relay to send the list of relays that it knows. */
export const LIST_DEADLINE_MS = 5_000
/** The most descriptors read from one list, chosen at random: as many as a relay can know. */
export const DESCRIPTORS_READ_MAX = 1024
/** The most signatures checked in one list: each takes a millisecond or more. */
export const SIGNATURES_CHECKED_MAX = 64
/** After this many signatures in a row, the SDK yields to the page. */
export const SIGNATURES_IN_A_ROW = 8
/** The most relays that a search probes. */
export const DISCOVERED_PROBES_MAX = 16
/** The most concurrent probes. */
export const PROBES_PARALLEL_MAX = 8
/**
 * The deadline of each of the two requests of a probe: a slower relay is of no
 * use.
 */
export const HEALTH_DEADLINE_MS = 3_000
/** After this long, a search uses the relays that have answered, and continues. */
export const PROBE_PATIENCE_MS = 1_000
/** The first search asks this many relays for their lists. */
export const LISTS_FIRST_MAX = 4
/** Later searches ask this many, in turn: a full list has half a megabyte. */
export const LISTS_MAX = 2
/** The interval between searches, or up to half more, so that the SDK always knows live relays. */
export const SEARCH_INTERVAL_MS: number = 10 * 60_000
/** The pause before another search while a relay is missing. Each search without success doubles it. */
export const SEARCH_RETRY_FIRST_MS = 15_000
/** This many connections of a relay cost as much as one millisecond of round trip. */
export const LOAD_CONNECTIONS_PER_MS = 100
/** This many bytes per second of a relay's visitors cost as much as one millisecond of round trip: 10 Mbit/s. */
export const LOAD_BYTES_PER_MS = 1_250_000
/** The largest cost of connections, and of bytes, in milliseconds: the reported load weighs no more than an ocean. */
export const LOAD_COST_MAX_MS = 100
/** The time that a discovered relay has to come back after a lost connection before another one replaces it. */
export const REPLACE_AFTER_MS = 2_000
/** The time that a new relay has to bring the site online before one more is tried. */
export const TAKE_PATIENCE_MS = 3_000
/** The time after which the SDK gives up a relay that never brought the site online. */
export const TAKE_DEADLINE_MS = 15_000
/** A discovered relay may let the site wait this long for its certificate. */
export const CERTIFICATE_PATIENCE_MS = 30_000
/** The number of relays that may be tried at once beyond the missing ones. */
export const ATTEMPTS_SPARE = 2
/** The time for which a failed discovered relay is not used again, or up to half less at random. */
export const FAILED_PAUSE_FIRST_MS = 30_000
/** Each further failure doubles the pause, up to this. */
export const FAILED_PAUSE_MAX_MS: number = 30 * 60_000
/** After a site was online at a relay for this long, the relay's earlier failures do not count. */
export const FORGIVEN_AFTER_MS: number = 10 * 60_000
/** The most failed relays that are remembered. */
export const FAILED_RELAYS_MAX = 64
/** The largest `discover`: each relay needs its own connection, ready streams and lease. */
export const DISCOVER_MAX = 8
/** The number of gateways that the SDK tries for one carrier before it treats the relay as unreachable. */
export const GATEWAYS_TRIED_MAX = 4
/**
 * How far this machine's clock may be past the expiry of a gateway's descriptor, in milliseconds: the clock may be
 * wrong, but a relay that sends a wrong time must not make a descriptor valid forever.
 */
export const GATEWAY_CLOCK_SKEW_MS: number = 24 * 3_600_000
/** The most gateways whose newest descriptor time a site remembers. It forgets the oldest. */
export const GATEWAYS_REMEMBERED_MAX = 1024
