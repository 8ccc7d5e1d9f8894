// Registering a lease, renewing and giving it up. Every answer is checked; a message is read before it is signed.

import {
  CAPABILITY_MAX_BYTES,
  CHALLENGE_ID,
  EXTENSIONS,
  type Extension,
  type LeaseMetadata,
  normalizeAddress,
  PATH,
  PROTOCOL_VERSION,
  parseSiweMessage,
  type RegisterChallengeRequest,
  type RegisterRequest,
  type RenewRequest,
  type ReverseEndpointRequest,
  type Routing,
  registrationPurpose,
  type UnregisterRequest,
} from '@svc/protocol'
import { SvcError } from '../errors.ts'
import type { KeyIdentity } from '../identity/key.ts'
import { ACCESS_TOKEN_MAX_CHARS, PROOF_REUSE_MS, UNREGISTER_DEADLINE_MS } from '../limits.ts'
import { requireRecord, requireText, requireTime } from './json-checks.ts'
import type { RelayClient } from './relay-client.ts'

/** What a site asks a relay for. */
export interface LeaseRequest {
  /** Normalized. */
  name: string
  identity: KeyIdentity
  ttlS: number
  allowCanonicalFallback: boolean
  metadata: LeaseMetadata | undefined
  /** A dedicated TCP port as well. */
  tcp?: boolean | undefined
  /** A dedicated UDP port as well. */
  udp?: boolean | undefined
}

/** Where visitors come from. */
export interface Endpoint {
  /** Present this on the carrier and on each of its streams. */
  capability: string
  /** `wss:` address of the carrier. */
  carrierUrl: string
  /** Whether visitors may come; `allowed` of a relay that does not say. */
  routing: Routing
}

/** What every success of register and renew grants anew. */
export interface Grant extends Endpoint {
  accessToken: string
  /** By the relay's clock, in milliseconds since the epoch. */
  expiresAt: number
}

export interface Registration extends Grant {
  /** What the relay can do beyond the protocol. */
  extensions: ReadonlySet<Extension>
  /** Empty when another identity owns the friendly name. */
  hostname: string
  canonicalHostname: string
  /** `host:port` of the dedicated TCP port, when one was asked for. */
  tcpAddress: string | undefined
  /** The same of the UDP port. */
  udpAddress: string | undefined
}

/** A signed challenge: good for one registration. */
export interface Proof {
  body: RegisterRequest
  extensions: ReadonlySet<Extension>
  /** By `performance.now()`. */
  usableUntil: number
}

export async function prove(
  client: RelayClient,
  request: LeaseRequest,
  signal?: AbortSignal,
): Promise<Proof> {
  const extensions = await checkCompatible(client, signal)
  const usableUntil = performance.now() + PROOF_REUSE_MS
  const { id, message } = await requestChallenge(client, request, signal)
  const signature = request.identity.personalSign(message)
  return {
    body: { challenge_id: id, siwe_message: message, siwe_signature: signature },
    extensions,
    usableUntil,
  }
}

export async function register(
  client: RelayClient,
  request: LeaseRequest,
  { body, extensions }: Proof,
  signal?: AbortSignal,
): Promise<Registration> {
  const answer = await client.call(PATH.register, { body, signal }).catch((error) => {
    if (!isFull(error)) throw error
    throw new SvcError('relay_full', error.message, { cause: error, retryAfterMs: error.retryAfterMs })
  })
  const data = requireRecord(answer, 'registration')
  try {
    return { ...(await parseRegistration(client, request, data, signal)), extensions }
  } catch (error) {
    // what the relay granted is of no use
    const { access_token: token } = data
    if (typeof token === 'string' && ACCESS_TOKEN.test(token))
      await unregister(client, token, false).catch(() => {})
    throw error
  }
}

async function parseRegistration(
  client: RelayClient,
  request: LeaseRequest,
  data: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Omit<Registration, 'extensions'>> {
  const identity = requireRecord(data.identity, 'identity')
  if (identity.name !== request.name || !sameAddress(identity.address, request.identity.address))
    throw new SvcError('unexpected_answer', 'the relay registered another identity')
  const tcpAddress = request.tcp ? requireText(data, 'tcp_addr', HOST_AND_PORT) : undefined
  const udpAddress = request.udp ? requireText(data, 'udp_addr', HOST_AND_PORT) : undefined
  const hostnames = parseHostnames(client, request, data)
  return { ...(await parseGrant(client, data, signal)), ...hostnames, tcpAddress, udpAddress }
}

export async function renew(
  client: RelayClient,
  request: LeaseRequest,
  accessToken: string,
  signal?: AbortSignal,
): Promise<Grant> {
  const body: RenewRequest = { access_token: accessToken, ttl: request.ttlS, metadata: request.metadata }
  return parseGrant(client, requireRecord(await client.call(PATH.renew, { body, signal }), 'renewal'), signal)
}

/**
 * The endpoint of a lease anew, and how it is routed by now.
 * @param failedUrl the one to be avoided
 * @throws SvcError `alternate_gateway` when it is another host's
 */
export async function fetchEndpoint(
  client: RelayClient,
  accessToken: string,
  signal?: AbortSignal,
  failedUrl?: string,
): Promise<Endpoint> {
  const body: ReverseEndpointRequest = { access_token: accessToken, failed_url: failedUrl }
  const data = requireRecord(await client.call(PATH.reverse, { body, signal }), 'reverse endpoint')
  const url = endpointUrl(data)
  if (!isOwn(client, url, data))
    throw new SvcError('alternate_gateway', `the relay sends reverse sessions to ${url.origin}: refused`)
  return parseEndpoint(data, url)
}

/** `keepalive` lets the request outlive the page. */
export async function unregister(
  client: RelayClient,
  accessToken: string,
  keepalive: boolean,
): Promise<void> {
  const body: UnregisterRequest = { access_token: accessToken }
  await client.call(PATH.unregister, { body, keepalive, deadlineMs: UNREGISTER_DEADLINE_MS })
}

async function checkCompatible(
  client: RelayClient,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<Extension>> {
  const data = requireRecord(await client.call(PATH.domain, { signal }), 'domain')
  if (data.protocol_version === PROTOCOL_VERSION) return parseExtensions(data)
  const theirs = requireText(data, 'protocol_version', /^[\w.-]{1,32}$/)
  throw new SvcError(
    'incompatible_relay',
    `the relay speaks protocol ${theirs}, this SDK ${PROTOCOL_VERSION}`,
  )
}

/** None of a relay that lists none, as others of the protocol's family; what is not known here is passed over. */
function parseExtensions({ extensions }: Record<string, unknown>): ReadonlySet<Extension> {
  const listed: unknown[] = Array.isArray(extensions) ? extensions : []
  return new Set(EXTENSIONS.filter((known) => listed.includes(known)))
}

async function requestChallenge(
  client: RelayClient,
  request: LeaseRequest,
  signal: AbortSignal | undefined,
): Promise<{ id: string; message: string }> {
  const { address } = request.identity
  const body: RegisterChallengeRequest = {
    identity: { name: request.name, address },
    allow_canonical_fallback: request.allowCanonicalFallback,
    metadata: request.metadata,
    ttl: request.ttlS,
    ...(request.tcp && { tcp_enabled: true }),
    ...(request.udp && { udp_enabled: true }),
  }
  const data = requireRecord(await client.call(PATH.registerChallenge, { body, signal }), 'challenge')
  const id = requireText(data, 'challenge_id', CHALLENGE_ID)
  const message = requireText(data, 'siwe_message', /^[\x20-\x7e\n]{1,2048}$/)
  const purpose = { ...registrationPurpose(client.host), address, requestId: id }
  if (parseSiweMessage(message, purpose) === undefined)
    throw new SvcError(
      'siwe_mismatch',
      'refused to sign: the message does not name this relay, this identity and this request',
    )
  return { id, message }
}

/** Printable ASCII without separators, for both travel in HTTP fields (RFC 9110 §5.6.2). */
const ACCESS_TOKEN = new RegExp(`^[\\w.~+/=-]{1,${ACCESS_TOKEN_MAX_CHARS}}$`)
const CAPABILITY = new RegExp(`^[\\w.~+-]{1,${CAPABILITY_MAX_BYTES}}$`)

const HOST_AND_PORT = /^[\w.:[\]-]{1,255}:\d{1,5}$/

async function parseGrant(
  client: RelayClient,
  data: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Grant> {
  const endpoint = requireRecord(data.reverse_endpoint, 'reverse_endpoint')
  const accessToken = requireText(data, 'access_token', ACCESS_TOKEN)
  const expiresAt = requireTime(data, 'expires_at')
  const url = endpointUrl(endpoint)
  // A gateway that the relay chose is as good as one that failed: a browser client has no way to check it.
  const own = isOwn(client, url, endpoint)
    ? parseEndpoint(endpoint, url)
    : await fetchEndpoint(client, accessToken, signal, url.href)
  return { ...own, accessToken, expiresAt }
}

function endpointUrl(endpoint: Record<string, unknown>): URL {
  const url = URL.parse(requireText(endpoint, 'url', /^https:/i))
  if (url === null) throw new SvcError('unexpected_answer', 'reverse_endpoint.url is not a URL')
  return url
}

/** A relay must not hand the page's streams to another host. */
function isOwn(client: RelayClient, url: URL, { overlay }: Record<string, unknown>): boolean {
  return url.origin === client.origin && overlay !== true
}

function parseEndpoint(endpoint: Record<string, unknown>, { host, pathname, search }: URL): Endpoint {
  const { routing } = endpoint
  return {
    capability: requireText(endpoint, 'capability', CAPABILITY),
    carrierUrl: `wss://${host}${pathname}${search}`,
    routing: routing === 'approval' || routing === 'rejected' ? routing : 'allowed',
  }
}

/** A relay that has no room for another lease has a code for that which it has for other things, too. */
function isFull(error: unknown): error is SvcError {
  return error instanceof SvcError && error.code === 'feature_unavailable'
}

function parseHostnames(
  client: RelayClient,
  request: LeaseRequest,
  data: Record<string, unknown>,
): Pick<Registration, 'hostname' | 'canonicalHostname'> {
  const granted = data.hostname !== '' || !request.allowCanonicalFallback
  return {
    hostname: granted ? hostname(client, data, 'hostname') : '',
    canonicalHostname: hostname(client, data, 'canonical_hostname'),
  }
}

/** One label below the relay's own host. */
function hostname(client: RelayClient, data: Record<string, unknown>, field: string): string {
  const value = requireText(data, field, /^[a-z0-9-]{1,63}\.[a-z0-9.-]+$/)
  if (value.slice(value.indexOf('.') + 1) !== client.hostname)
    throw new SvcError('unexpected_answer', `${field} is not a name of ${client.hostname}`)
  return value
}

function sameAddress(theirs: unknown, ours: string): boolean {
  return typeof theirs === 'string' && normalizeAddress(theirs) === normalizeAddress(ours)
}
