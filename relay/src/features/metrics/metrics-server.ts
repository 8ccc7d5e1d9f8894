// Serves `GET /metrics` over plain HTTP, for a scraper on this machine or in a private network.

import type { Server, ServerResponse } from 'node:http'
import { REQUEST_HEAD_MAX_BYTES, StrictRequests } from '@svc/node-kit/http'
import { createServer } from '@svc/node-kit/http-module'
import type { Metrics } from '../../core/metrics/metrics.ts'

/** Connections to the metrics endpoint at once. */
const METRICS_CONNECTIONS_MAX = 16
/** Time for one request to the metrics endpoint. */
const METRICS_REQUEST_DEADLINE_MS = 5_000
const PATH = '/metrics'
const NOT_FOUND = 404
const METHOD_NOT_ALLOWED = 405
const INTERNAL_SERVER_ERROR = 500

export function createMetricsServer(metrics: Metrics): Server {
  const server = createServer({
    requestTimeout: METRICS_REQUEST_DEADLINE_MS,
    maxHeaderSize: REQUEST_HEAD_MAX_BYTES,
  })
  const strict = new StrictRequests(server, 'connection')
  server.on(
    'request',
    strict.requests((request, response) => {
      response.on('error', () => response.destroy())
      if (request.url !== PATH) return refuse(response, NOT_FOUND)
      if (request.method !== 'GET') return refuse(response.setHeader('Allow', 'GET'), METHOD_NOT_ALLOWED)
      metrics.text().then(
        (text) => response.setHeader('Content-Type', metrics.contentType).end(text),
        () => refuse(response, INTERNAL_SERVER_ERROR),
      )
    }),
  )
  // An error here is a connection that the system could not accept. The caller of listen() handles its errors.
  server.on('error', () => {})
  server.maxConnections = METRICS_CONNECTIONS_MAX
  return server
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}
