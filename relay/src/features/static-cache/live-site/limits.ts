// Holds the limits of requests that go on to live sites.

import { DISCARDED_BODY_MS } from '../../../core/http/discard-body.ts'

/**
 * Requests that are on their way to live sites at once. Each holds a slot from its head to the end of its response, two
 * descriptors, and some 150 KiB where neither side reads.
 */
export const LIVE_REQUESTS_MAX = 512
/** The same for a relay that may have few descriptors: their share of the connections that it may have. */
export const LIVE_REQUESTS_CONNECTIONS_SHARE: number = 1 / 32
/** The same for one site. */
export const LIVE_REQUESTS_PER_SITE_MAX = 128
/** The same from one network, to all sites together. */
export const LIVE_REQUESTS_PER_NETWORK_MAX = 64
/** Of the slots of all sites, those that only sites without any get. */
export const LIVE_RESERVED_SHARE: number = 1 / 8
/** Connections to live sites that wait for the next request of the same client, as a share of the requests. */
export const LIVE_IDLE_SHARE = 0.5
/** The same of one site. */
export const LIVE_IDLE_PER_SITE_MAX = 16
/** The time for which such a connection waits. The SDKs close theirs later, so that a request rarely meets the end of one. */
export const LIVE_IDLE_MS = 10_000
/** Time for a connection to a live site: for its session, and for the handshake. */
export const LIVE_CONNECT_DEADLINE_MS = 15_000
/**
 * The time for which a request waits for a session of a site that has no session, ready or with a visitor. Such a site is most likely
 * away, and one that reconnects takes less.
 */
export const LIVE_AWAY_WAIT_MS = 2_000
/** The time that a site may take for the head of its response, after the end of the request's body. */
const LIVE_RESPONSE_DEADLINE_MS = 60_000
/** The bytes of a request's body that a visitor must send in that time: 500 a second. */
export const LIVE_BODY_MIN_BYTES = 30_000
/** The time for which a response may stop in the midst. Streams of events say something every 15 to 60 seconds. */
const LIVE_QUIET_DEADLINE_MS = 600_000
/** The time after which a quiet response or WebSocket makes room for another request when no slot is free. */
const LIVE_CROWDED_QUIET_MS = 30_000
/** The time after which the relay cuts a response of which the visitor takes nothing: the slot is for others. */
const LIVE_STALLED_MS = 300_000
/** Head of a site's response. Servers allow themselves 8 to 16 KiB. */
export const LIVE_HEAD_MAX_BYTES: number = 32 * 1024

/** Deadlines of requests, in milliseconds. */
export interface LiveDeadlines {
  /** For the head of a response. */
  responseMs: number
  /** For a visitor who takes nothing of it. */
  stalledMs: number
  /** For a site that says nothing more of it. */
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
