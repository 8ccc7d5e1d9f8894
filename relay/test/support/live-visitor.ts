// Visitors of a canonical hostname, over HTTP/1.1 and HTTP/2, and what they get.

import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type RequestOptions, request } from 'node:https'
import type { HandMadeSite } from './live-sites.ts'
import type { TestClient } from './relay.ts'

export interface LiveAnswer {
  status: number
  headers: IncomingMessage['headers']
  trailers: IncomingMessage['trailers']
  text: string
}

/** Begins a request, on a connection of its own unless the options have an agent. */
export function beginRequest(
  relay: TestClient,
  { url }: Pick<HandMadeSite, 'url'>,
  path: string,
  options: RequestOptions = {},
): ClientRequest {
  const { hostname, host } = new URL(url)
  const headers = { Host: host, ...(options.headers as Record<string, string>) }
  const { port, ca } = relay
  return request({
    host: '127.0.0.1',
    port,
    servername: hostname,
    ca,
    agent: false,
    ...options,
    path,
    headers,
  })
}

export async function readAnswer(response: IncomingMessage): Promise<LiveAnswer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const { statusCode: status = 0, headers, trailers } = response
  return { status, headers, trailers, text: Buffer.concat(chunks).toString() }
}

export async function askSite(
  relay: TestClient,
  site: Pick<HandMadeSite, 'url'>,
  path: string,
  options: RequestOptions = {},
  body?: string,
): Promise<LiveAnswer> {
  const asked = beginRequest(relay, site, path, options)
  asked.end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return await readAnswer(response)
}

export function http2To(relay: TestClient, { url }: Pick<HandMadeSite, 'url'>): ClientHttp2Session {
  const { hostname, origin } = new URL(url)
  return connectHttp2(origin, { createConnection: () => relay.tls(hostname, { ALPNProtocols: ['h2'] }) })
}

/** Unlike `once`, it does not mind an error before. */
export function closeOf(emitter: { once(event: 'close', listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => emitter.once('close', resolve))
}
