// Discovery: a relay's description of itself, which its identity signs, and the relays that it knows.

/** A descriptor's signature has so many bytes: r, s, and the recovery bit, plain or with Ethereum's 27 added. */
export const DESCRIPTOR_SIGNATURE_BYTES = 65

/** RelayDescriptor is a relay's signed description of itself, as discovery passes it on. */
export interface RelayDescriptor {
  /** The address of the relay's identity. */
  address: string
  version: string | number
  issued_at: string
  expires_at: string
  /** The `https:` URL of the relay's API. */
  api_https_addr: string
  wireguard_public_key: string
  wireguard_port: number
  supports_overlay: boolean
  supports_udp: boolean
  supports_tcp: boolean
  active_connections: number
  tcp_bps: number
  /** The signature in base64. */
  signature: string
}

/** DiscoveryResponse is the answer to `GET /discovery`: the relays that this relay knows. */
export interface DiscoveryResponse {
  protocol_version: string
  generated_at: string
  relays: RelayDescriptor[]
  incompatible_relays: { url: string; protocol_version: string; last_seen_at: string }[]
  release_version: string
  relay_release_versions: Record<string, string>
}

/**
 * descriptorText returns the text whose SHA-256 is signed: every field but the signature, in this order, with times in
 * nanoseconds.
 */
export function descriptorText(descriptor: RelayDescriptor): string {
  const { address, version, issued_at, expires_at, api_https_addr } = descriptor
  const { wireguard_public_key, wireguard_port, supports_overlay, supports_udp, supports_tcp } = descriptor
  const { active_connections, tcp_bps } = descriptor
  const head = JSON.stringify({ address, version })
  const overlay = { wireguard_public_key, wireguard_port, supports_overlay }
  const load = { supports_udp, supports_tcp, active_connections, tcp_bps }
  const tail = JSON.stringify({ api_https_addr, ...overlay, ...load })
  // These have more digits than a JavaScript number can hold.
  const times = `"issued_at_unix_nano":${unixNano(issued_at)},"expires_at_unix_nano":${unixNano(expires_at)}`
  return `${head.slice(0, -1)},${times},${tail.slice(1)}`
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
