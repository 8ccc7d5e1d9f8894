// Discovery: a relay's description of itself, which its identity signs, and the relays that it knows.

import type { SiteStatement } from './site-statement.ts'
import { DISCOVERY_VERSION } from './versions.ts'

/**
 * A descriptor's signature has this many bytes: a byte with the recovery bit, then r and s (the compact form, which relays write), or
 * r, s, and the recovery bit, plain or with Ethereum's 27 added.
 */
export const DESCRIPTOR_SIGNATURE_BYTES = 65

/**
 * RelayDescriptor is a relay's signed description of itself, which discovery distributes (docs/protocol.md §14.2). Its times are
 * RFC 3339 date-times with at most nanoseconds.
 */
export interface RelayDescriptor {
  /** The Ethereum address of the relay's identity, whose key signs the descriptor. */
  address: string
  /** A version, which is signed unchanged and not compared. Relays of this software write one of {@link DISCOVERY_VERSIONS}. */
  version: string | number
  issued_at: string
  /** The time from which the descriptor is invalid. */
  expires_at: string
  /** The `https:` URL of the relay's API. */
  api_https_addr: string
  /** The relay's public key in the overlay. */
  wireguard_public_key: string
  /** The relay's port for the overlay. */
  wireguard_port: number
  /** Says whether the relay takes part in the overlay. */
  supports_overlay: boolean
  /** Says whether leases can have dedicated UDP ports. */
  supports_udp: boolean
  /** Says whether leases can have dedicated TCP ports. */
  supports_tcp: boolean
  /** The number of connections, as the relay claims. */
  active_connections: number
  /** The TCP traffic, as the relay claims. Relays of this software count bytes per second. */
  tcp_bps: number
  /** The signature of one of {@link descriptorTexts}, of {@link DESCRIPTOR_SIGNATURE_BYTES} bytes, in base64. */
  signature: string
}

/** *Extension*: the query of `GET /discovery` for the relay's own descriptor only. Other relays answer with all that they know. */
export const ONLY_OWN_DESCRIPTOR = 'relays=own'

/** The fields of a descriptor that are signed. */
export type UnsignedDescriptor = Omit<RelayDescriptor, 'signature'>

/** DiscoveryAnnouncement is the body of `POST /discovery/announce`. */
export interface DiscoveryAnnouncement {
  /** The version of discovery of the relay that announces itself. */
  protocol_version: string
  /** Its own descriptor. */
  descriptor: RelayDescriptor
}

/** DiscoveryAnnounceResponse is the answer to an announcement. */
export interface DiscoveryAnnounceResponse {
  /** The version of discovery of the relay that answers. */
  protocol_version: string
  /** Whether the answering relay will probe the other one, and distribute its descriptor if that succeeds. */
  accepted: boolean
}

/**
 * DiscoveryResponse is the answer to `GET /discovery`: the relays that this relay knows. Only the descriptors are signed.
 * Times are RFC 3339 date-times.
 */
export interface DiscoveryResponse {
  /** The version of discovery of the relay that answers. */
  protocol_version: string
  /** The time of the answer. */
  generated_at: string
  /** The descriptors of other relays: verify each with {@link verifyDescriptor}. */
  relays: RelayDescriptor[]
  /** The relays of another protocol version, by the URL of their API. */
  incompatible_relays: { url: string; protocol_version: string; last_seen_at: string }[]
  /** The release of the relay that answers. */
  release_version: string
  /** Maps the URL of a relay's API to the release that it reported to the answering relay. */
  relay_release_versions: Record<string, string>
}

/**
 * SitePresence says whether a relay has a site now. *Extension*. The request names the site by {@link siteQuestionText}, so that a
 * relay without the site does not learn its name. Only the site's statement proves the answer.
 */
export interface SitePresence {
  /** Whether visitors would reach the site at that relay. */
  here: boolean
  /** The site's statement for that relay, if it is there and has made one. */
  statement?: SiteStatement | undefined
}

/** siteQuestionText returns the text whose SHA-256, as 64 lower-case hex digits, names a site in a request. */
export function siteQuestionText(canonicalLabel: string): string {
  return `svc site\n${canonicalLabel}`
}

/**
 * descriptorTexts returns the texts of which a relay signs one, by its SHA-256; the one of its version comes first. The whole text has every
 * field but the signature, in this order, with times in nanoseconds. The short one, of {@link DISCOVERY_VERSION}, leaves out the
 * three overlay fields. A descriptor with such fields has only the whole text, so that nobody can add them to a signed one.
 */
export function descriptorTexts(descriptor: UnsignedDescriptor): [string, ...string[]] {
  const { address, version, issued_at, expires_at, api_https_addr } = descriptor
  const { wireguard_public_key, wireguard_port, supports_overlay, supports_udp, supports_tcp } = descriptor
  const { active_connections, tcp_bps } = descriptor
  const head = JSON.stringify({ address, version })
  // These have more digits than a JavaScript number can hold.
  const times = `"issued_at_unix_nano":${unixNano(issued_at)},"expires_at_unix_nano":${unixNano(expires_at)}`
  const overlay = { wireguard_public_key, wireguard_port, supports_overlay }
  const load = { supports_udp, supports_tcp, active_connections, tcp_bps }
  const textWith = (tail: object): string =>
    `${head.slice(0, -1)},${times},${JSON.stringify({ api_https_addr, ...tail }).slice(1)}`
  const whole = textWith({ ...overlay, ...load })
  const hasOverlay = wireguard_public_key !== '' || wireguard_port !== 0 || supports_overlay
  if (hasOverlay) return [whole]
  const short = textWith(load)
  return version === DISCOVERY_VERSION ? [short, whole] : [whole, short]
}

const FRACTION = /\.(\d{1,9})/

/**
 * Returns an RFC 3339 date-time in nanoseconds since the epoch. `Date` alone would drop the digits below a millisecond.
 */
function unixNano(time: string): bigint {
  const seconds = Date.parse(time.replace(FRACTION, '')) / 1000
  const fraction = FRACTION.exec(time)?.[1] ?? ''
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
}
