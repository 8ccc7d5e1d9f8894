// How every endpoint of a table is answered: credential, rate limit, body, handler, envelope, in this order.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LeaseCredentials } from '../auth/lease-authorizer.ts'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import { parseWith } from '../config/schema.ts'
import type { RateLimits } from '../rate-limit/client-rate-limits.ts'
import type { RequestBodies } from './endpoints/body-limits.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import type { AdminAuth } from './handlers/admin-auth.ts'
import { BodyStream } from './http/body-stream.ts'
import type { BodyWriter } from './http/body-writer.ts'
import { sendData } from './http/envelope.ts'
import { readBytes, readJson } from './http/read-body.ts'
import type { Handler, Routing } from './http/server.ts'

/** The parts of a request that a handler gets. */
interface Call<Body> {
  body: Body
  /** Normalized address of the client. */
  source: string
  /** Name of the administrator who asks; empty where no administrator is needed. */
  by: string
  authorization: string | undefined
  /** Path and query. */
  url: string
}

/** What handlers of endpoints are made with. */
export interface ApiParts {
  answer: AnswerEndpoint
  bodies: RequestBodies
  writer: BodyWriter
  clientAddresses: ClientAddresses
  credentials: LeaseCredentials
  rateLimits: RateLimits
}

interface EndpointParts {
  clientAddresses: ClientAddresses
  adminAuth: Pick<AdminAuth, 'require'>
  rateLimits: Pick<RateLimits, 'charge'>
  bodies: RequestBodies
}

export type AnswerEndpoint = <Body, Data>(
  endpoint: Endpoint<Body, Data>,
  produce: (call: Call<Body>) => Data | Promise<Data>,
) => Handler

export function createAnswer({
  clientAddresses,
  adminAuth,
  rateLimits,
  bodies,
}: EndpointParts): AnswerEndpoint {
  return (endpoint, produce) => {
    const { auth, cost, status } = endpoint
    return async (request, response) => {
      const { authorization } = request.headers
      // Before the body is read: a connection that breaks in the meantime has no address any more.
      const source = clientAddresses.ofRequest(request)
      const by = auth === 'admin' ? adminAuth.require(authorization, source) : ''
      if (cost !== undefined) rateLimits.charge(source, cost)
      const data = await withBody(bodies, endpoint, { request, response, source }, async (body) =>
        produce({ body, source, by, authorization, url: request.url ?? '' }),
      )
      sendData(response, data, status)
    }
  }
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  source: string
}

async function withBody<Body, Data>(
  bodies: RequestBodies,
  endpoint: Endpoint<Body, Data>,
  { request, response, source }: Exchange,
  use: (body: Body) => Promise<Data>,
): Promise<Data> {
  const { auth, body } = endpoint
  if (body === undefined) return await use(undefined as Body)
  if (body.kind === 'stream') {
    const stream = new BodyStream(request, body)
    return await use(stream as Body).finally(() => stream.close(response))
  }
  const limits = bodies.limitsOf(auth, body, source)
  if (body.kind === 'json')
    return await use(parseWith(body.schema, await readJson(request, response, limits)))
  const { bytes, release } = await readBytes(request, response, limits)
  return await use(bytes as Body).finally(release)
}

/** The routes of a table, with the handler that has the name of each endpoint. */
export function routingOf<Name extends string>(
  endpoints: Readonly<Record<Name, Pick<Endpoint<never, never>, 'path' | 'method' | 'isKept'>>>,
  handlers: Readonly<Record<Name, Handler>>,
): Routing {
  const routing: Routing = {}
  for (const name of Object.keys(handlers) as Name[]) {
    const { path, method, isKept } = endpoints[name]
    // Node leaves the body of an answer to HEAD out.
    for (const each of isKept ? [method, 'HEAD'] : [method])
      routing[path] = { ...routing[path], [each]: handlers[name] }
  }
  return routing
}
