// Registers, renews and unregisters a lease. It checks every answer, and reads a message before it signs it.

import {
  CHALLENGE_ID,
  type Extension,
  isSiweFor,
  normalizeAddress,
  PATH,
  type RegisterChallengeRequest,
  type RegisterRequest,
  type RenewRequest,
  registrationPurpose,
  type UnregisterRequest,
} from '@svc/protocol'
import { SvcError } from '../errors.ts'
import { explained } from '../explained.ts'
import { releaseOf, requireCompatible } from './compatibility.ts'
import { acceptEndpoint } from './endpoint.ts'
import { isRecord, requireRecord, requireText, requireTime } from './json-checks.ts'
import type { CacheLimits, Grant, LeaseRequest, Registration } from './lease.ts'
import { ACCESS_TOKEN_MAX_CHARS, PROOF_REUSE_MS, UNREGISTER_DEADLINE_MS } from './limits.ts'
import { loadLazy } from './load-lazy.ts'
import type { RelayClient } from './relay-client.ts'

/** Returns the hostnames of a lease: the friendly one, if the relay granted it, and the canonical one. */
export function hostnamesOf({
  hostname,
  canonicalHostname,
}: Pick<Registration, 'hostname' | 'canonicalHostname'>): string[] {
  return hostname === '' ? [canonicalHostname] : [hostname, canonicalHostname]
}

/** A RelayVersion describes the relay, by its answer to `GET /sdk/domain`. */
type RelayVersion = Pick<Registration, 'extensions' | 'release' | 'cacheLimits'>

/** A Proof is a signed challenge for one registration. */
export interface Proof {
  body: RegisterRequest
  relay: RelayVersion
  /** The SDK presents the proof until this time of `performance.now()`. */
  usableUntil: number
}

export async function prove(
  client: RelayClient,
  request: LeaseRequest,
  signal?: AbortSignal,
): Promise<Proof> {
  const usableUntil = performance.now() + PROOF_REUSE_MS
  // Both requests run at once, because a relay may be far away. The SDK signs nothing for a relay of another protocol.
  const compatible = checkCompatible(client, signal)
  const offered = request.cache && (await compatible).cacheLimits
  const challenge = requestChallenge(client, offered ? request : { ...request, cache: undefined }, signal)
  challenge.catch(() => {})
  const relay = await compatible
  const { id, message } = await challenge
  const signature = request.identity.personalSign(message)
  return {
    body: { challenge_id: id, siwe_message: message, siwe_signature: signature },
    relay,
    usableUntil,
  }
}

export async function register(
  client: RelayClient,
  request: LeaseRequest,
  { body, relay }: Proof,
  signal?: AbortSignal,
): Promise<Registration> {
  const answer = await client.call(PATH.register, { body, signal }).catch((error) => {
    throw isFull(error) ? full(error) : error
  })
  const data = requireRecord(answer, 'registration')
  try {
    return { ...(await parseRegistration(client, request, data, signal)), ...relay }
  } catch (error) {
    // The SDK cannot use what the relay granted.
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
): Promise<Omit<Registration, keyof RelayVersion>> {
  const identity = requireRecord(data.identity, 'identity')
  if (identity.name !== request.name || !sameAddress(identity.address, request.identity.address))
    throw await explained('unexpected_answer', ['anotherIdentity'])
  // A page has no ports, and does not load this code.
  const ports = request.tcp || request.udp ? (await loadLazy()).parseDedicatedPorts(request, data) : undefined
  const hostnames = parseHostnames(client, request, data)
  const grant = await parseGrant(client, request, data, signal)
  return { ...grant, ...hostnames, ...ports, answer: data }
}

export async function renew(
  client: RelayClient,
  request: LeaseRequest & Pick<RenewRequest, 'statement'>,
  accessToken: string,
  signal?: AbortSignal,
): Promise<Grant> {
  const { ttlS: ttl, metadata, statement } = request
  const body: RenewRequest = { access_token: accessToken, ttl, metadata, statement }
  const data = requireRecord(await client.call(PATH.renew, { body, signal }), 'renewal')
  return parseGrant(client, request, data, signal)
}

/**
 * Unregisters a lease.
 * @param keepalive lets the request outlive the page
 */
export async function unregister(
  client: RelayClient,
  accessToken: string,
  keepalive: boolean,
): Promise<void> {
  const body: UnregisterRequest = { access_token: accessToken }
  await client.call(PATH.unregister, { body, keepalive, deadlineMs: UNREGISTER_DEADLINE_MS })
}

async function checkCompatible(client: RelayClient, signal: AbortSignal | undefined): Promise<RelayVersion> {
  const data = requireRecord(await client.call(PATH.domain, { signal }), 'domain')
  await requireCompatible(data)
  return {
    extensions: parseExtensions(data),
    release: releaseOf(data),
    cacheLimits: parseCacheLimits(data),
  }
}

/** Returns undefined, meaning no static cache, when the limits are missing or invalid. */
function parseCacheLimits({ cache }: Record<string, unknown>): CacheLimits | undefined {
  if (!isRecord(cache) || !isCount(cache.max_exposure_bytes) || !isCount(cache.max_object_size))
    return undefined
  return { maxExposureBytes: cache.max_exposure_bytes, maxObjectBytes: cache.max_object_size }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

/** Returns what the relay lists, of which the SDK asks only for what it knows. A relay of the same protocol family may list none. */
function parseExtensions({ extensions }: Record<string, unknown>): ReadonlySet<Extension> {
  return new Set(Array.isArray(extensions) ? extensions : [])
}

async function requestChallenge(
  client: RelayClient,
  request: LeaseRequest,
  signal: AbortSignal | undefined,
): Promise<{ id: string; message: string }> {
  const {
    identity: { address },
    metadata,
    ttlS: ttl,
    invitation,
  } = request
  const body: RegisterChallengeRequest = {
    identity: { name: request.name, address },
    allow_canonical_fallback: request.allowCanonicalFallback,
    metadata,
    ttl,
    invitation,
    tcp_enabled: request.tcp,
    udp_enabled: request.udp,
    away_page: request.awayPage,
    overlay: request.checkGateway && true,
    domains: request.domains?.names,
    ...(request.visitorAddress && { extensions: ['visitor_address'] }),
    ...(request.cache && { cache: true, cache_ttl: request.cache.ttlS }),
  }
  const answer = await client.call(PATH.registerChallenge, { body, signal }).catch((error) => {
    // Without a Retry-After, the relay may mean the metadata.
    throw isFull(error) && error.retryAfterMs !== undefined ? full(error) : error
  })
  const data = requireRecord(answer, 'challenge')
  const id = requireText(data, 'challenge_id', CHALLENGE_ID)
  const message = requireText(data, 'siwe_message', /^[\x20-\x7e\n]{1,2048}$/)
  const purpose = { ...registrationPurpose(client.host), address, requestId: id }
  if (!isSiweFor(message, purpose)) throw await explained('siwe_mismatch', ['notSigned'])
  return { id, message }
}

/** Tokens are printable ASCII without separators, because they travel in HTTP fields (RFC 9110 §5.6.2). */
const ACCESS_TOKEN = new RegExp(`^[\\w.~+/=-]{1,${ACCESS_TOKEN_MAX_CHARS}}$`)

async function parseGrant(
  client: RelayClient,
  { checkGateway }: LeaseRequest,
  data: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Grant> {
  const endpoint = requireRecord(data.reverse_endpoint, 'reverse_endpoint')
  const accessToken = requireText(data, 'access_token', ACCESS_TOKEN)
  const expiresAt = requireTime(data, 'expires_at')
  const accepted = await acceptEndpoint(client, { accessToken, checkGateway }, endpoint, signal)
  return { ...accepted, accessToken, expiresAt, domains: data.domains }
}

/** Returns whether the relay has no room for another lease. Its code for that also has other meanings. */
function isFull(error: unknown): error is SvcError {
  return error instanceof SvcError && error.code === 'feature_unavailable'
}

function full(cause: SvcError): SvcError {
  return new SvcError('relay_full', cause.message, { cause, retryAfterMs: cause.retryAfterMs })
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

/**
 * Returns a hostname that is one label below the relay's own host.
 * @throws SvcError `unexpected_answer`
 */
function hostname(client: RelayClient, data: Record<string, unknown>, field: string): string {
  const value = requireText(data, field, /^[a-z0-9-]{1,63}\.[a-z0-9.-]+$/)
  if (value.slice(value.indexOf('.') + 1) !== client.hostname)
    throw new SvcError('unexpected_answer', `${field} is not a name of ${client.hostname}`)
  return value
}

function sameAddress(theirs: unknown, ours: string): boolean {
  return typeof theirs === 'string' && normalizeAddress(theirs) === normalizeAddress(ours)
}
