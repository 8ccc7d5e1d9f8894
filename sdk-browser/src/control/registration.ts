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
import { ACCESS_TOKEN_MAX_CHARS, UNREGISTER_DEADLINE_MS } from '../limits.ts'
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
}

export async function register(
  client: RelayClient,
  request: LeaseRequest,
  signal?: AbortSignal,
): Promise<Registration> {
  await checkCompatible(client, signal)
  const challenge = await requestChallenge(client, request, signal)
  const body: RegisterRequest = {
    challenge_id: challenge.id,
    siwe_message: challenge.message,
    siwe_signature: request.identity.personalSign(challenge.message),
  }
  const data = record(await client.call(PATH.register, { body, signal }), 'registration')
  const identity = record(data.identity, 'identity')
  if (identity.name !== request.name || !sameAddress(identity.address, request.identity.address))
    throw new SvcError('unexpected_answer', 'the relay registered another identity')
  return { ...parseGrant(client, data), ...parseHostnames(client, request, data) }
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
