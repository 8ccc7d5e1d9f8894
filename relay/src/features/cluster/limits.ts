// The limits of a relay on several machines.

/** Interval of a machine's heartbeats, at which it also reads which others are running. */
export const HEARTBEAT_MS = 1_000
/** The others consider a machine gone after this long without a heartbeat. */
export const MACHINE_GONE_MS = 3_000
/** A machine that is gone is listed for this long. */
export const MACHINE_KEPT_MS: number = 10 * 60_000
/** Maximum number of machines of one relay. A heartbeat reads all of them. */
export const MACHINES_MAX = 64

/** Largest tolerated difference between the clocks of two machines. */
export const CLOCK_DIFFERENCE_MAX_MS = 30_000

/** Time for one command of Redis. A slower Redis counts as down. */
export const REDIS_COMMAND_MS = 2_000
/** Time for a connection to Redis, its handshake included. */
export const REDIS_CONNECT_MS = 2_000
/** Shortest and longest pause before the next attempt to reach Redis. */
export const REDIS_RETRY_MS = 50
export const REDIS_RETRY_MAX_MS = 500
/** Time for the first contact with Redis at a start. */
export const REDIS_START_MS = 10_000
/** Time for an answer to `svc-relay check`, for which a person waits. */
export const REDIS_INSPECT_MS = 3_000

/** Shortest interval between two warnings about entries of one kind that no machine wrote. */
export const REDIS_WARNING_MS = 10_000
/** Attempts to write despite a forged or a concurrent entry in Redis. */
export const REDIS_ATTEMPTS_MAX = 8
/** Fencing tokens are below this; a relay did not write a higher counter. */
export const FENCE_MAX = 1e14

/**
 * Entries of the stream of changes that Redis keeps: many seconds of them at full load. A machine that lags farther
 * behind reads everything again.
 */
export const CHANGES_KEPT = 100_000
/** Entries in one read of the stream. */
export const CHANGES_PER_READ = 1_000
/** A read of the stream waits this long for the next entry. */
export const CHANGES_BLOCK_MS = 500
/** Leases per command while a machine reads or writes all of them. */
export const LEASES_PER_READ = 500
/**
 * Lifetime of the entry that maps a hostname to its identity; it proves nothing by itself. It is renewed twice within
 * that time.
 */
export const NAME_INDEX_MS: number = 48 * 3_600_000
/** Changes, one for each lease, that the machine could not send to Redis and keeps to send later. */
export const UNSENT_CHANGES_MAX = 200_000

/** Lifetime of a lock in Redis that its holder does not refresh. */
export const LOCK_MS = 15_000
/** Interval at which the holder refreshes it. */
export const LOCK_REFRESH_MS = 4_000
/** Pause before another attempt to take a lock. */
export const LOCK_LOOK_MS = 500

/** Attempts to change the policy while others change it. */
export const POLICY_ATTEMPTS_MAX = 20

/** Connections to each other machine; visitors are spread over them. */
export const LINKS_PER_MACHINE = 2
/** Visitors that one connection between machines carries. */
export const LINK_STREAMS_MAX = 16_384
/** Unacknowledged streams of one connection between machines. */
export const LINK_BACKLOG = 4_096
/** Receive window of a visitor on a connection between machines. */
export const LINK_WINDOW_BYTES: number = 1024 * 1024
/**
 * Interval of pings between machines, and the time for the answer: a silent machine is noticed within their sum. New
 * visitors go elsewhere after only {@link LINK_TAKEN_MS}; existing ones are not cut off because a machine is busy for
 * some seconds.
 */
export const LINK_PING_MS = 1_000
export const LINK_PING_DEADLINE_MS = 8_000
/** Time for a connection to another machine, its TLS handshake included. */
export const LINK_CONNECT_MS = 3_000
/** Shortest and longest pause before the next attempt to reach another machine. */
export const LINK_RETRY_MS = 100
export const LINK_RETRY_MAX_MS = 2_000
/** Connections at the listener for other machines whose peer has not yet proven that it knows the secret. */
export const LINK_HANDSHAKES_MAX = 64
/** Connections at that listener. */
export const LINK_CONNECTIONS_MAX: number = MACHINES_MAX * LINKS_PER_MACHINE * 4
/** Time for the other machine to accept a visitor. */
export const LINK_TAKEN_MS = 1_000
/** Time for the head of a stream between machines. */
export const LINK_HEAD_MS = 5_000
/** Bytes of one message between machines. */
export const LINK_MESSAGE_MAX_BYTES: number = 4 * 1024 * 1024
/** Bytes of messages that wait for a slow machine; beyond that, the connection is closed. */
export const LINK_MESSAGES_WAITING_MAX_BYTES: number = 64 * 1024 * 1024
/** Time for an answer of another machine. */
export const LINK_ANSWER_MS = 2_000
/** Time for other machines to learn of a registration before the relay answers it. */
export const LINK_SETTLE_MS = 1_000
/**
 * Time for a machine to learn of it from Redis; then the machine that registers sends it directly. Shorter than
 * {@link LINK_SETTLE_MS}.
 */
export const CHANGE_REACHED_MS = 500
/** Interval at which a machine that starts checks whether it is linked with the others. */
export const LINK_LOOK_MS = 10
/**
 * Delay before a changed number of sessions is sent to other machines; one that rises from or falls to 0 is sent at
 * once.
 */
export const SESSION_COUNTS_MS = 250
/** Leases in one message with numbers of sessions. */
export const SESSION_COUNTS_PER_MESSAGE = 1_000

/** Leases in one message with their traffic. */
export const TRAFFIC_LEASES_PER_MESSAGE = 1_000
/** The open connections of a machine count no more after this long without such a message. */
export const TRAFFIC_SILENT_MS = 15_000

/** Time for which a machine that leaves still accepts connections, so that load balancers notice first. */
export const LEAVE_MS = 3_000

/** Validity in days of a machine's certificate for the others. The machine makes a new one at each start. */
export const LINK_CERTIFICATE_DAYS = 3_650
/** Bytes of one shared file. */
export const SHARED_FILE_MAX_BYTES: number = 1024 * 1024
/** How long the claim of a custom domain stays: as long as its proof counts. */
export const DOMAIN_CLAIM_MS: number = 24 * 3_600_000
