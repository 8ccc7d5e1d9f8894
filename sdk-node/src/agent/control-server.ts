// The control server: HTTP on the loopback interface, only for requests to the agent's own address and from its own page.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostPort } from '@svc/node-kit/host-port'
import { REQUEST_HEAD_MAX_BYTES, StrictRequests } from '@svc/node-kit/http'
import { isRecord } from '@svc/sdk-core'
import type { AgentAnswer, AgentErrorCode, Role } from './api-messages.ts'
import type { ControlAddress } from './control-address.ts'
import type { Endpoint, SharedContext } from './endpoint.ts'
import { ERROR_PAGE_FIELDS, errorPage } from './error-page.ts'
import { AgentError } from './errors.ts'
import type { PageAnswer } from './page.ts'
import type { Caller } from './sign-ins.ts'
import { SignIns } from './sign-ins.ts'

/** The largest body of a request, in bytes: far more than the fields of one tunnel. */
export const BODY_MAX_BYTES: number = 64 * 1024
/** The deadline of a request's head, in milliseconds. */
const HEAD_DEADLINE_MS = 5_000
/** The deadline of a whole request, in milliseconds. A change of svc.toml takes a few. */
const REQUEST_DEADLINE_MS = 10_000
/** The interval at which Node checks these deadlines, in milliseconds. Its default of 30 s is longer than they are. */
const DEADLINE_CHECK_MS = 1_000
/** The most concurrent connections: a page, a terminal's live view, and commands. */
export const CONNECTIONS_MAX = 64
const BEARER = /^Bearer ([\w.~+/-]{1,512}=*)$/i
const NOT_OWN = 'Host is not the address of this server'
const JSON_TYPE = /^application\/json\s*(?:;|$)/i
/** The security fields of every answer: no caching, framing, sniffing or referrer. */
const SAFE_FIELDS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const

/** A ControlApi is what a control server offers: endpoints by path, and what they work with. */
export interface ControlApi<Context extends SharedContext> {
  endpoints: Readonly<Record<string, Endpoint<Context>>>
  context(shared: SharedContext): Context
  /** Logs an unexpected error. */
  failed(error: unknown): void
  /** Resolves with the file of a page at a path, which has its own security fields; with undefined for other paths. */
  page?: ((path: string) => Promise<PageAnswer | undefined>) | undefined
}

export interface ControlServer {
  /** The address of the control API, without a path. */
  readonly url: string
  readonly signIns: SignIns
  /** Ends all connections. */
  close(): Promise<void>
}

/**
 * Starts the server, which listens until it is closed.
 * @param token the bearer token of the owner
 * @throws AgentError `address_in_use`, `address_refused`
 */
export async function startControlServer<Context extends SharedContext>(
  { host, port }: ControlAddress,
  token: string,
  api: ControlApi<Context>,
): Promise<ControlServer> {
  const server = createServer({
    maxHeaderSize: REQUEST_HEAD_MAX_BYTES,
    headersTimeout: HEAD_DEADLINE_MS,
    requestTimeout: REQUEST_DEADLINE_MS,
    keepAliveTimeout: REQUEST_DEADLINE_MS,
    connectionsCheckingInterval: DEADLINE_CHECK_MS,
  })
  server.maxConnections = CONNECTIONS_MAX
  const strict = new StrictRequests(server, 'connection')
  // Closes connections of clients that do not read their answers.
  server.setTimeout(REQUEST_DEADLINE_MS)
  await listen(server, host, port)
  // Without free file descriptors, accepting fails and the agent continues.
  server.on('error', (error) => api.failed(error))
  const { port: taken } = server.address() as AddressInfo
  const url = new URL(`http://${hostPort(host, taken)}`).origin
  const signIns = new SignIns(token)
  const context = api.context({ url, signIns })
  const hosts = new Set([new URL(url).host, new URL(`http://localhost:${taken}`).host])
  server.on(
    'request',
    strict.requests((request, response) => void respond(request, response, { api, context, hosts })),
  )
  return {
    url,
    signIns,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new AgentError(
        'address_in_use',
        `port ${port} of ${host} is in use: stop what listens there, or set agent.control_addr in svc.toml`,
        cause,
      )
    throw new AgentError('address_refused', `the agent cannot listen at ${host}:${port} (${code})`, cause)
  }
}

interface Serving<Context extends SharedContext> {
  api: ControlApi<Context>
  context: Context
  /** The own hosts: others are refused. */
  hosts: ReadonlySet<string>
}

async function respond<Context extends SharedContext>(
  request: IncomingMessage,
  response: ServerResponse,
  { api, context, hosts }: Serving<Context>,
): Promise<void> {
  const { endpoints, page } = api
  try {
    requireOwnHost(request, hosts)
    const url = URL.parse(request.url ?? '', context.url)
    if (url === null) throw new AgentError('invalid_request', 'the request names no path')
    // The request target may be a whole URL, which overrides Host (RFC 9112 §3.2.2).
    if (!isOneOf(url, hosts)) throw new AgentError('misdirected_request', NOT_OWN)
    const { pathname, searchParams } = url
    // Any page may lead to this one.
    if (pathname !== '/') requireOwnOrigin(request, hosts)
    const endpoint = Object.hasOwn(endpoints, pathname) ? endpoints[pathname] : undefined
    if (endpoint === undefined) return sendPage(request, response, await page?.(pathname))
    requireMethod(request, response, endpoint.method)
    const [, token = ''] = BEARER.exec(request.headers.authorization ?? '') ?? []
    const caller = token === '' ? undefined : context.signIns.callerOf(token)
    requireRole(endpoint, caller)
    const body = endpoint.method === 'POST' ? await readBody(request, endpoint.maxBytes) : {}
    const data = await endpoint.answer({ caller, token, body, query: searchParams }, context)
    send(response, 200, { ok: true, data })
  } catch (error) {
    // The client has left.
    if (request.errored || response.destroyed) return
    refuse(request, response, error, api)
  }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  api: { failed(error: unknown): void },
): void {
  if (!(error instanceof AgentError)) api.failed(error)
  const known =
    error instanceof AgentError ? error : new AgentError('internal', 'the log of the agent says why')
  if (response.headersSent) return void response.destroy()
  // The rest of the request is not read.
  response.setHeader('Connection', 'close')
  if (known.status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
  const { status, message } = known
  const page = errorPage(request, known)
  if (page !== undefined) sendText(response, status, page, ERROR_PAGE_FIELDS)
  else send(response, status, { ok: false, error: { code: known.code as AgentErrorCode, message } })
}

/** Prevents DNS rebinding: a page of another site may reach this address by a name of its own. */
function requireOwnHost({ headers, rawHeaders }: IncomingMessage, hosts: ReadonlySet<string>): void {
  const count = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (count === 1 && hosts.has(headers.host?.toLowerCase() ?? '')) return
  throw new AgentError('misdirected_request', NOT_OWN)
}

/** A browser sends the page's origin in every request except a plain navigation. */
function requireOwnOrigin({ headers }: IncomingMessage, hosts: ReadonlySet<string>): void {
  const { origin, 'sec-fetch-site': site = 'none' } = headers
  const isOwn = origin === undefined || (URL.canParse(origin) && isOneOf(new URL(origin), hosts))
  if (isOwn && (site === 'none' || site === 'same-origin')) return
  throw new AgentError('forbidden_origin', 'only the page of this server may ask')
}

function isOneOf({ protocol, host }: URL, hosts: ReadonlySet<string>): boolean {
  return protocol === 'http:' && hosts.has(host)
}

function requireMethod(request: IncomingMessage, response: ServerResponse, method: 'GET' | 'POST'): void {
  if (request.method === method) return
  response.setHeader('Allow', method)
  throw new AgentError('method_not_allowed', `this path takes ${method}`)
}

function requireRole({ role }: { role?: Role }, caller: Caller | undefined): void {
  if (role === undefined) return
  if (caller === undefined) throw new AgentError('unauthorized', 'the token is missing, wrong or expired')
  const enough: readonly Role[] = role === 'owner' ? ['owner'] : ['owner', 'reader']
  if (!enough.includes(caller.role))
    throw new AgentError('forbidden', 'a wallet that signed in may only read /agent/status')
}

/** Reads the JSON body. Its type, which no form of another page can send, keeps such pages out. */
async function readBody(
  request: IncomingMessage,
  maxBytes: number = BODY_MAX_BYTES,
): Promise<Record<string, unknown>> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new AgentError('unsupported_media_type', 'the body is not application/json')
  const bytes = await readBytes(request, maxBytes)
  let body: unknown
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    throw new AgentError('invalid_json', 'the body is not JSON')
  }
  if (!isRecord(body)) throw new AgentError('invalid_request', 'the body is not an object')
  return body
}

/** Reads with events: `for await` would close the connection before the answer to a body that is too long. */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const parts: Buffer[] = []
  let size = 0
  request.on('data', (part: Buffer) => {
    size += part.length
    // Discards the rest until the answer has ended the connection.
    if (size > maxBytes) reject(new AgentError('too_large', `the body has over ${maxBytes} bytes`))
    else parts.push(part)
  })
  request.on('end', () => resolve(Buffer.concat(parts)))
  request.on('error', reject)
  request.on('close', () => reject(new Error('the connection ended before the body')))
  return promise
}

function sendPage(request: IncomingMessage, response: ServerResponse, answer: PageAnswer | undefined): void {
  if (answer === undefined) throw new AgentError('not_found', 'there is nothing at this path')
  const { status, headers, body } = answer
  requireMethod(request, response, 'GET')
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

function send(response: ServerResponse, status: number, answer: AgentAnswer<object>): void {
  sendText(response, status, JSON.stringify(answer), { 'Content-Type': 'application/json' })
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  fields: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, { ...SAFE_FIELDS, ...fields, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
