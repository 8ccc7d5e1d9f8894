// Registering a lease, renewing and giving it up. Every answer is checked; a message is read before it is signed.

import {
  CAPABILITY_MAX_BYTES,
  CHALLENGE_ID,
  type LeaseMetadata,
  normalizeAddress,
  PATH,
  PROTOCOL_VERSION,
  parseSiweMessage,
  type RegisterChallengeRequest,
  type RegisterRequest,
  type RenewRequest,
  type UnregisterRequest,
} from '@svc/protocol'
import { SvcError } from '../errors.ts'
import type { KeyIdentity } from '../identity/key.ts'
import { ACCESS_TOKEN_MAX_CHARS, PROOF_REUSE_MS, UNREGISTER_DEADLINE_MS } from '../limits.ts'
import type { RelayClient } from './client.ts'
import { record, text, time } from './shape.ts'

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

/** What every success of register and renew grants anew. */
export interface Grant {
  accessToken: string
  /** Present this on the carrier and on each of its streams. */
  capability: string
  /** `wss:` address of the carrier. */
  carrierUrl: string
  /** By the relay's clock, in milliseconds since the epoch. */
  expiresAt: number
}

export interface Registration extends Grant {
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
  /** By `Date.now()`. */
  usableUntil: number
}

export async function prove(
  client: RelayClient,
  request: LeaseRequest,
  signal?: AbortSignal,
): Promise<Proof> {
  await checkCompatible(client, signal)
  const usableUntil = Date.now() + PROOF_REUSE_MS
  const { id, message } = await requestChallenge(client, request, signal)
  const signature = request.identity.personalSign(message)
  return { body: { challenge_id: id, siwe_message: message, siwe_signature: signature }, usableUntil }
}

export async function register(
  client: RelayClient,
  request: LeaseRequest,
  { body }: Proof,
  signal?: AbortSignal,
): Promise<Registration> {
  const data = record(await client.call(PATH.register, { body, signal }), 'registration')
  const identity = record(data.identity, 'identity')
  if (identity.name !== request.name || !sameAddress(identity.address, request.identity.address))
    throw new SvcError('unexpected_answer', 'the relay registered another identity')
  const tcpAddress = request.tcp ? text(data, 'tcp_addr', HOST_AND_PORT) : undefined
  const udpAddress = request.udp ? text(data, 'udp_addr', HOST_AND_PORT) : undefined
  return { ...parseGrant(client, data), ...parseHostnames(client, request, data), tcpAddress, udpAddress }
}

export async function renew(
  client: RelayClient,
  request: LeaseRequest,
  accessToken: string,
  signal?: AbortSignal,
): Promise<Grant> {
  const body: RenewRequest = { access_token: accessToken, ttl: request.ttlS, metadata: request.metadata }
  return parseGrant(client, record(await client.call(PATH.renew, { body, signal }), 'renewal'))
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

async function checkCompatible(client: RelayClient, signal: AbortSignal | undefined): Promise<void> {
  const data = record(await client.call(PATH.domain, { signal }), 'domain')
  if (data.protocol_version === PROTOCOL_VERSION) return
  const theirs = text(data, 'protocol_version', /^[\w.-]{1,32}$/)
  throw new SvcError(
    'incompatible_relay',
    `the relay speaks protocol ${theirs}, this SDK ${PROTOCOL_VERSION}`,
  )
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
  const data = record(await client.call(PATH.registerChallenge, { body, signal }), 'challenge')
  const id = text(data, 'challenge_id', CHALLENGE_ID)
  const message = text(data, 'siwe_message', /^[\x20-\x7e\n]{1,2048}$/)
  if (parseSiweMessage(message, { host: client.host, address, requestId: id }) === undefined)
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

function parseGrant(client: RelayClient, data: Record<string, unknown>): Grant {
  const endpoint = record(data.reverse_endpoint, 'reverse_endpoint')
  return {
    accessToken: text(data, 'access_token', ACCESS_TOKEN),
    capability: text(endpoint, 'capability', CAPABILITY),
    carrierUrl: carrierUrl(client, text(endpoint, 'url', /^https:/i), endpoint.overlay),
    expiresAt: time(data, 'expires_at'),
  }
}

/** A relay must not hand the page's streams to another host: a browser client has no way to check that one. */
function carrierUrl(client: RelayClient, address: string, overlay: unknown): string {
  const url = URL.parse(address)
  if (url === null) throw new SvcError('unexpected_answer', 'reverse_endpoint.url is not a URL')
  if (url.origin !== client.origin || overlay === true)
    throw new SvcError('alternate_gateway', `the relay sends reverse sessions to ${url.origin}: refused`)
  return `wss://${url.host}${url.pathname}${url.search}`
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
  const value = text(data, field, /^[a-z0-9-]{1,63}\.[a-z0-9.-]+$/)
  if (value.slice(value.indexOf('.') + 1) !== client.hostname)
    throw new SvcError('unexpected_answer', `${field} is not a name of ${client.hostname}`)
  return value
}

function sameAddress(theirs: unknown, ours: string): boolean {
  return typeof theirs === 'string' && normalizeAddress(theirs) === normalizeAddress(ours)
}
