// The limits of the WireGuard link.

/** Bytes of an inner packet: the 1500 of Ethernet minus the headers of IPv6, UDP and WireGuard. */
export const MTU_BYTES = 1420
/** Seconds between two packets to a silent peer, so that NATs on the way keep their mapping. */
export const KEEPALIVE_S = 25
/**
 * Age of a handshake above which a session ends, in milliseconds (WireGuard's REJECT_AFTER_TIME): such a peer counts as
 * not connected.
 */
export const SESSION_MAX_MS = 180_000
/** The interval at which the relay checks and repairs the interface, in milliseconds. */
export const FOLLOW_MS = 2_000
/** Age at which the name of a peer's host is resolved again, in milliseconds. */
export const RESOLVE_AGAIN_MS: number = 5 * 60_000
/**
 * The same for a name without an answer, in milliseconds. It doubles with each further failure, up to
 * {@link RESOLVE_AGAIN_MS}.
 */
export const RESOLVE_FAILED_AGAIN_MS = 5_000
/** Time to resolve one name, in milliseconds. */
export const RESOLVE_DEADLINE_MS = 10_000
/** Names that are resolved at once. */
export const RESOLVE_PARALLEL_MAX = 16
/**
 * Time for which the relay tries one address of a silent peer before the next one, in milliseconds: WireGuard tries
 * every 5 s.
 */
export const ADDRESS_TURN_MS = 15_000
/** Time for one run of `ip`, `wg` or `nft`, in milliseconds. */
export const COMMAND_DEADLINE_MS = 10_000
/** Bytes of such a run's output. A report on 1024 peers has 200 KiB. */
export const COMMAND_OUTPUT_MAX_BYTES: number = 1024 * 1024
/** Characters of an error message of such a program in the log. */
export const COMMAND_ERROR_MAX_CHARS = 300
/** Time for a WireGuard process to make its interface, in milliseconds. */
export const DEVICE_DEADLINE_MS = 10_000
/** The interval at which the relay checks whether it has, in milliseconds. */
export const DEVICE_LOOK_MS = 50
/** Pause before the first restart of a link that failed, in milliseconds. It doubles with each further failure. */
export const RESTART_MS = 1_000
/** The longest such pause. A link that was up for longer starts with the shortest one again. */
export const RESTART_MAX_MS = 60_000
/**
 * Time that a relay has to complete a handshake when others claim the same key, in milliseconds: WireGuard tries every
 * 5 s.
 */
export const CLAIM_TURN_MS = 30_000
/** Time after which the relay asks again for an owner of such a key that did not answer, in milliseconds. */
export const CLAIM_ASK_AGAIN_MS = 10_000
/** Owners that are asked at once. */
export const CLAIM_QUESTIONS_PARALLEL_MAX = 16
/** Time for such an answer, the connection included, in milliseconds. */
export const CLAIM_QUESTION_DEADLINE_MS = 5_000
/** Longest wait for the interface at the start of the relay, in milliseconds. */
export const START_WAIT_MS = 5_000
