// Holds the limits of requests that the relay forwards to live sites.

import { DISCARDED_BODY_MS } from '../../../core/http/discard-body.ts'

/**
 * Requests to live sites in progress at once. Each holds a slot from its head to the end of its response, two
 * descriptors, and some 150 KiB when neither side reads.
 */
export const LIVE_REQUESTS_MAX = 512
/** The same for a relay with few descriptors, as a share of the connections that it may have. */
export const LIVE_REQUESTS_CONNECTIONS_SHARE: number = 1 / 32
/** The same for one site. */
export const LIVE_REQUESTS_PER_SITE_MAX = 128
/** The same from one network, to all sites together. */
export const LIVE_REQUESTS_PER_NETWORK_MAX = 64
/** Share of all slots that is reserved for sites that have none. */
export const LIVE_RESERVED_SHARE: number = 1 / 8
/** Idle connections to live sites, kept for the same client's next request, as a share of the requests. */
export const LIVE_IDLE_SHARE = 0.5
/** Idle connections to one site. */
export const LIVE_IDLE_PER_SITE_MAX = 16
/**
 * Time after which the relay closes an idle connection. SDKs close theirs later, so a request rarely meets a closing
 * one.
 */
export const LIVE_IDLE_MS = 10_000
/** Time for a connection to a live site: for its session, and for the handshake. */
export const LIVE_CONNECT_DEADLINE_MS = 15_000
/**
 * Time that a request waits for a session when the site has none, ready or with a visitor. Such a site is most likely
 * away, and one that reconnects takes less.
 */
export const LIVE_AWAY_WAIT_MS = 2_000
/** The time that a site may take for the head of its response, after the end of the request's body. */
const LIVE_RESPONSE_DEADLINE_MS = 60_000
/** The bytes of a request's body that a visitor must send in that time: 500 a second. */
export const LIVE_BODY_MIN_BYTES = 30_000
/** Time for which a response may pause. Event streams send something every 15 to 60 seconds. */
const LIVE_QUIET_DEADLINE_MS = 600_000
/** The time after which a quiet response or WebSocket makes room for another request when no slot is free. */
const LIVE_CROWDED_QUIET_MS = 30_000
/** Time after which the relay cuts a response that the visitor does not read, to free its slot. */
const LIVE_STALLED_MS = 300_000
/** Bytes of the head of a site's response. Servers limit their own to 8 to 16 KiB. */
export const LIVE_HEAD_MAX_BYTES: number = 32 * 1024

/** Deadlines of requests, in milliseconds. */
export interface LiveDeadlines {
  /** For the head of a response. */
  responseMs: number
  /** For a visitor who does not read it. */
  stalledMs: number
  /** For a site that sends no more of it. */
  quietMs: number
  /** The same while another request needs the slot, and for a WebSocket. */
  crowdedQuietMs: number
  /** For the rest of a request's body, which the relay drops once the response is there. */
  discardMs: number
}

export const LIVE_DEADLINES: LiveDeadlines = {
  responseMs: LIVE_RESPONSE_DEADLINE_MS,
  stalledMs: LIVE_STALLED_MS,
  quietMs: LIVE_QUIET_DEADLINE_MS,
  crowdedQuietMs: LIVE_CROWDED_QUIET_MS,
  discardMs: DISCARDED_BODY_MS,
}
