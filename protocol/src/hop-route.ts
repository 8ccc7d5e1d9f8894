// HopRoute: one step of a route over several relays, which the owner of the site signs (docs/protocol.md §18.1).

import type { LeaseMetadata } from './messages.ts'

/** HOP_ROUTE_PURPOSE is the first field of every text signed for a HopRoute, so that the signature is valid for nothing else. */
export const HOP_ROUTE_PURPOSE = 'svc hop route v1'

/** HopRouteMethod says whether a relay must add the route or remove it. */
export type HopRouteMethod = 'POST' | 'DELETE'

/**
 * HopRoute tells the relay at `relay_url` where to forward visitors. It names only the next relay. A relay either accepts
 * the visitors of `public_hostname` itself, or those that another relay forwards with `match_token`: one of the two is empty.
 */
export interface HopRoute {
  /** The owner's secp256k1 public key: 33 bytes, compressed, as lower-case hex digits. Its address has the lease. */
  owner_public_key: string
  /** The origin of the relay that the route is for. */
  relay_url: string
  /** The hostname of the visitors, at the first relay; empty at the others. */
  public_hostname: string
  /** The canonical hostname of the owner's lease at `relay_url`; the route ends with that lease. */
  route_hostname: string
  /** The SHA-256 of the visitors' hostname, as lower-case hex digits. The same at every relay. */
  hostname_hash: string
  /** The token with which the previous relay forwards visitors; empty at the first relay. */
  match_token: string
  /** Data of the lease, which is signed but unused. */
  metadata: LeaseMetadata
  /** The origin of the next relay, the only one that may submit this route, over the overlay. */
  forward_relay: string
  /** The token for the next relay. */
  forward_token: string
  /** The time at which the owner created the route (RFC 3339). */
  first_seen_at: string
  /** The expiry of the route (RFC 3339). Each new signature of a route must expire later than the one before. */
  expires_at: string
  /** The signature of {@link hopRouteText} by ECDSA with SHA-256: DER, as lower-case hex digits. */
  signature: string
}

/**
 * *Extension* `hop_routes`: HopRouteRequest is the body of `POST /sdk/route`. It asks the next relay of a route, where the owner
 * has a lease, to submit the route to its relay.
 */
export interface HopRouteRequest {
  /** The method of the signature and of the forwarded request. */
  method: HopRouteMethod
  route: HopRoute
}

/** Returns the text that the owner signs: `purpose`, the method, and every field but the signature, in this order. */
export function hopRouteText(method: HopRouteMethod, route: Omit<HopRoute, 'signature'>): string {
  const { owner_public_key, relay_url, public_hostname, route_hostname, hostname_hash, match_token } = route
  const { metadata, forward_relay, forward_token, first_seen_at, expires_at } = route
  return JSON.stringify({
    purpose: HOP_ROUTE_PURPOSE,
    method,
    owner_public_key,
    relay_url,
    public_hostname,
    route_hostname,
    hostname_hash,
    match_token,
    metadata,
    forward_relay,
    forward_token,
    first_seen_at,
    expires_at,
  })
}

const HOSTNAME = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/
const HASH = /^[0-9a-f]{64}$/
/** 32 random bytes in base64url (RFC 4648 §5). */
const TOKEN = /^[\w-]{43}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
const ORIGIN_MAX_CHARS = 512

const FIELDS: Record<keyof HopRoute, (value: unknown) => boolean> = {
  owner_public_key: matching(/^0[23][0-9a-f]{64}$/),
  relay_url: isOrigin,
  public_hostname: orEmpty(matching(HOSTNAME)),
  route_hostname: matching(HOSTNAME),
  hostname_hash: matching(HASH),
  match_token: orEmpty(matching(TOKEN)),
  metadata: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  forward_relay: isOrigin,
  forward_token: matching(TOKEN),
  first_seen_at: isTime,
  expires_at: isTime,
  // A DER signature of this curve has at most 72 bytes.
  signature: matching(/^30[0-9a-f]{14,142}$/),
}

/**
 * parseHopRoute returns a route with exactly its own fields, in order. It checks neither the signature nor the times.
 * @param value parsed JSON
 * @returns undefined when a field is missing or malformed, when the route names one relay twice, or when it has both or
 *   neither of `public_hostname` and `match_token`
 */
export function parseHopRoute(value: unknown): HopRoute | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as Record<string, unknown>
  const names = Object.keys(FIELDS) as (keyof HopRoute)[]
  if (!names.every((name) => Object.hasOwn(fields, name) && FIELDS[name](fields[name]))) return undefined
  const route = Object.fromEntries(names.map((name) => [name, fields[name]])) as unknown as HopRoute
  const isFirst = route.match_token === ''
  if (isFirst === (route.public_hostname === '')) return undefined
  return route.relay_url === route.forward_relay ? undefined : route
}

function matching(form: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && form.test(value)
}

function orEmpty(check: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === '' || check(value)
}

function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > ORIGIN_MAX_CHARS || !value.startsWith('https://'))
    return false
  return URL.parse(value)?.origin === value
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value))
}
