// A local HTTP or HTTPS server as the target: requests and responses are streamed to it and back.

import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FetchHandler } from '@svc/sdk-core'
import { endToEndFields, SvcError } from '@svc/sdk-core'
import { ADDRESS_DEADLINE_MS } from '../limits.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import { forwardedFields } from './forwarded-fields.ts'
import { unreachable } from './tcp-target.ts'
import { proxyWebSocket } from './websocket-proxy.ts'

/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const BAD_GATEWAY = 'The server behind this site does not answer\n'
/** RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface HttpTargetOptions {
  /** PEM of the authority that an HTTPS target's certificate is checked against. */
  ca?: string | Buffer | undefined
  /** Called with the error of a target that cannot be reached; the visitor gets 502, and does not learn where the target is. */
  onError(error: SvcError): void
}

/** Passes requests on to `target`, WebSockets included. */
export function httpTarget(target: URL, { ca, onError }: HttpTargetOptions): FetchHandler {
  const isTls = target.protocol === 'https:'
  const connect = {
    lookup: localhostLookup,
    autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
    ...(ca !== undefined && { ca }),
  }
  const agent = isTls ? new HttpsAgent({ ...connect, keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const send = isTls ? httpsRequest : httpRequest
  const port = Number(target.port || (isTls ? 443 : 80))
  return async (request, info) => {
    const url = urlBelow(target, request.url)
    try {
      if (request.headers.get('upgrade')?.toLowerCase() === 'websocket')
        return await proxyWebSocket(url, request, info, connect)
      const headers = forwardedFields(request, target)
      // Node frames the body of some methods only with this field: unframed, it would be the next request
      if (request.body && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked'
      const options = { ...connect, agent, headers, method: request.method, signal: request.signal }
      return toResponse(await exchange(send, url, options, request))
    } catch (cause) {
      if (request.signal.aborted) throw cause
      const error = cause instanceof SvcError ? cause : unreachable({ host: target.hostname, port }, cause)
      onError(error)
      return new Response(BAD_GATEWAY, { status: 502 })
    }
  }
}

/** Sets only path and query: a path such as `//other.example` stays a path. */
function urlBelow(base: URL, requested: string): URL {
  const { pathname, search } = new URL(requested)
  const url = new URL(base)
  url.pathname = base.pathname.replace(/\/$/, '') + pathname
  url.search = search
  return url
}

type Send = (url: URL, options: RequestOptions) => ReturnType<typeof httpRequest>

/** Resolves with the head of the answer, whose body is still to come. */
function exchange(send: Send, url: URL, options: RequestOptions, request: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = send(url, options)
    asked.on('response', resolve)
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // the target closed a kept connection at the very moment it was used again
      const mayRepeat = asked.reusedSocket && error.code === 'ECONNRESET' && !request.body
      if (mayRepeat && SAFE.has(request.method)) exchange(send, url, options, request).then(resolve, reject)
      else reject(error)
    })
    if (!request.body) {
      asked.end()
      return
    }
    // a target may answer before it has read everything, and close: then its answer counts
    pipeline(Readable.fromWeb(request.body as never), asked).catch(reject)
  })
}

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers()
  for (let at = 0; at < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at]!, answer.rawHeaders[at + 1]!)
  const status = answer.statusCode!
  const isEmpty = WITHOUT_BODY.has(status)
  if (isEmpty) answer.resume()
  const body = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>)
  return new Response(body, {
    status,
    statusText: answer.statusMessage ?? '',
    headers: endToEndFields(headers),
  })
}
