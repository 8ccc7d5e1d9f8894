// The HTTP servers behind TLS: HTTP/1.1 and HTTP/2, with bounds on what a visitor may make them hold.

import type { Server as Http1Server, IncomingMessage } from 'node:http'
import { createServer as createHttp2Server, type Http2Server, type Http2Session } from 'node:http2'
import { REQUEST_FIELDS_MAX, REQUEST_HEAD_MAX_BYTES } from '@svc/node-kit/http'
import { createServer } from '@svc/node-kit/http-module'
import { API_DEADLINE_CHECK_MS, API_HEAD_DEADLINE_MS, API_IDLE_MS } from '../../../core/http/deadlines.ts'
import { enforceRequestTimeouts } from '../../../core/node-internals/request-timeouts.ts'
import {
  HTTP2_FIELDS_MAX_BYTES,
  HTTP2_INVALID_FRAMES_MAX,
  HTTP2_MEMORY_MAX_MB,
  HTTP2_RESETS_BURST,
  HTTP2_RESETS_PER_SECOND,
  HTTP2_SETTINGS_MAX,
  HTTP2_STREAMS_MAX,
} from './limits.ts'

/** Pseudo-header fields of a request (RFC 9113 §8.3.1), which Node counts with the others. */
const PSEUDO_FIELDS = 4

/** Creates a server for connections that the caller emits to it as `connection`. */
export function createHttp1(): Http1Server {
  const server = createServer({
    maxHeaderSize: REQUEST_HEAD_MAX_BYTES,
    headersTimeout: API_HEAD_DEADLINE_MS,
    // Only the live site reads a body, and limits how long it may take.
    requestTimeout: 0,
    connectionsCheckingInterval: API_DEADLINE_CHECK_MS,
    keepAliveTimeout: API_IDLE_MS,
    shouldUpgradeCallback: isWebSocket,
  })
  // Beyond this, Node drops fields silently. The size of the head bounds them, and the check of a request refuses too
  // many.
  server.maxHeadersCount = 0
  enforceRequestTimeouts(server)
  return server
}

/** The same for HTTP/2. */
export function createHttp2(): Http2Server {
  const server = createHttp2Server({
    settings: {
      enablePush: false,
      maxConcurrentStreams: HTTP2_STREAMS_MAX,
      maxHeaderListSize: HTTP2_FIELDS_MAX_BYTES,
    },
    maxHeaderListPairs: REQUEST_FIELDS_MAX + PSEUDO_FIELDS,
    maxSessionMemory: HTTP2_MEMORY_MAX_MB,
    maxSettings: HTTP2_SETTINGS_MAX,
    maxSessionInvalidFrames: HTTP2_INVALID_FRAMES_MAX,
    maxSessionRejectedStreams: HTTP2_STREAMS_MAX,
    streamResetBurst: HTTP2_RESETS_BURST,
    streamResetRate: HTTP2_RESETS_PER_SECOND,
  })
  // An error ends only its own session.
  return server.on('sessionError', () => {})
}

/**
 * Ends an idle session; one whose visitor does not read the responses is idle.
 * @param isBusy whether the live site may still send something
 */
export function endWhenIdle(session: Http2Session, isBusy: () => boolean, end: () => void): void {
  session.setTimeout(API_IDLE_MS, () => {
    if (isBusy()) session.setTimeout(API_IDLE_MS)
    else end()
  })
}

/** The relay ignores upgrades to other protocols, as RFC 9110 §7.8 allows. */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}
