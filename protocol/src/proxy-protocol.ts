// The PROXY protocol (HAProxy's proxy-protocol.txt): a header before a connection's first byte that names its client.
// Version 2 is binary (§2.2), version 1 a line of text (§2.1).

import { crc32c } from './crc32c.ts'
import { addressBytes, addressText, IPV4_BYTES, IPV6_BYTES, mappedBytes } from './ip-address.ts'

/** A SocketAddress is an IP address, without a zone, and a port. */
export interface SocketAddress {
  address: string
  port: number
}

/** A ProxyHeader says between whom a proxied connection is. */
export interface ProxyHeader {
  /** The client. Undefined for a connection of the proxy itself, or from no IP address. */
  source: SocketAddress | undefined
  /** The address that the client connected to. Undefined when `source` is. */
  destination: SocketAddress | undefined
  /** The bytes of a relay's trace id: {@link TRACE_ID_BYTES}. Other proxies send none. */
  traceId?: Uint8Array | undefined
}

/** The bytes at the beginning of each version 2 header. */
export const PROXY_SIGNATURE: Uint8Array = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10)
/** The bytes of signature, version and command, family and transport, and the length of the rest. */
export const PROXY_HEADER_MIN_BYTES = 16
/** The bytes of a relay's trace id for a connection. */
export const TRACE_ID_BYTES = 16

const COMMAND = { local: 0x20, proxy: 0x21 } as const
const UNSPECIFIED = 0x00
const TCP4 = 0x11
const TCP6 = 0x21
/** Two paths of UNIX sockets have no IP address. */
const UNIX = 0x31
/** Family and transport of a stream → bytes of its two addresses and ports. */
const ADDRESSES_BYTES: Readonly<Record<number, number>> = { [TCP4]: 12, [TCP6]: 36, [UNIX]: 216 }
const PORT_BYTES = 2
const TLV = { crc32c: 0x03, traceId: 0xe0 } as const
const TLV_HEAD_BYTES = 3
const CRC_BYTES = 4

/** The header is malformed, or not for a TCP connection. */
class ProxyHeaderError extends Error {
  override readonly name = 'ProxyHeaderError'
}

/**
 * Returns how many bytes follow the fixed part.
 * @param fixed the first {@link PROXY_HEADER_MIN_BYTES}
 * @throws ProxyHeaderError
 */
export function proxyHeaderLength(fixed: Uint8Array): number {
  if (PROXY_SIGNATURE.some((byte, index) => fixed[index] !== byte))
    throw new ProxyHeaderError('no PROXY signature')
  return viewOf(fixed).getUint16(PROXY_HEADER_MIN_BYTES - 2)
}

/**
 * @param header the fixed part and all that follows it
 * @throws ProxyHeaderError
 */
export function parseProxyHeader(header: Uint8Array): ProxyHeader {
  const [command, family] = header.subarray(PROXY_SIGNATURE.length)
  // The proxy's health checks send it. The receiver must skip the rest of the header.
  if (command === COMMAND.local) return { source: undefined, destination: undefined }
  if (command !== COMMAND.proxy) throw new ProxyHeaderError('unknown version or command')
  if (family === UNSPECIFIED) return { source: undefined, destination: undefined }
  const length = ADDRESSES_BYTES[family!]
  if (length === undefined) throw new ProxyHeaderError('not the family of a TCP connection')
  const addresses = header.subarray(PROXY_HEADER_MIN_BYTES, PROXY_HEADER_MIN_BYTES + length)
  if (addresses.length < length) throw new ProxyHeaderError('shorter than its addresses')
  const traceId = readTlvs(header, PROXY_HEADER_MIN_BYTES + length)
  if (family === UNIX) return { source: undefined, destination: undefined, traceId }
  const ipBytes = family === TCP4 ? IPV4_BYTES : IPV6_BYTES
  const ports = viewOf(addresses.subarray(2 * ipBytes))
  return {
    source: { address: addressText(addresses.subarray(0, ipBytes)), port: ports.getUint16(0) },
    destination: {
      address: addressText(addresses.subarray(ipBytes, 2 * ipBytes)),
      port: ports.getUint16(PORT_BYTES),
    },
    traceId,
  }
}

/**
 * Checks the framing of the TLVs, and the checksum of the whole header, computed with zeros in its own place.
 * @returns the trace id
 */
function readTlvs(header: Uint8Array, start: number): Uint8Array | undefined {
  const view = viewOf(header)
  let traceId: Uint8Array | undefined
  for (let at = start; at < header.length; ) {
    const value = at + TLV_HEAD_BYTES
    if (value > header.length) throw new ProxyHeaderError('a TLV is cut off')
    const end = value + view.getUint16(at + 1)
    if (end > header.length) throw new ProxyHeaderError('a TLV is longer than the header')
    if (header[at] === TLV.crc32c) {
      if (end - value !== CRC_BYTES) throw new ProxyHeaderError('a checksum has 4 bytes')
      const blank = Uint8Array.from(header).fill(0, value, end)
      if (crc32c(blank) !== view.getUint32(value)) throw new ProxyHeaderError('wrong checksum')
    }
    if (header[at] === TLV.traceId && end - value === TRACE_ID_BYTES)
      traceId = Uint8Array.from(header.subarray(value, end))
    at = end
  }
  return traceId
}

/**
 * Returns a version 2 header: LOCAL without a source and a destination.
 * @throws TypeError when an address is not an IP address
 */
export function encodeProxyHeader({ source, destination, traceId }: ProxyHeader): Uint8Array<ArrayBuffer> {
  const isKnown = source !== undefined && destination !== undefined
  const addresses = isKnown ? addressesOf(source, destination) : []
  const isIpv4 = addresses.length === ADDRESSES_BYTES[TCP4]
  const tlvs = traceId ? [TLV.traceId, 0, traceId.length, ...traceId] : []
  const length = addresses.length + tlvs.length
  return Uint8Array.of(
    ...PROXY_SIGNATURE,
    isKnown ? COMMAND.proxy : COMMAND.local,
    isKnown ? (isIpv4 ? TCP4 : TCP6) : UNSPECIFIED,
    length >> 8,
    length & 0xff,
    ...addresses,
    ...tlvs,
  )
}

/**
 * Returns a version 1 header: UNKNOWN without a source and a destination.
 * @throws TypeError when an address is not an IP address
 */
export function encodeProxyLine({ source, destination }: ProxyHeader): string {
  if (source === undefined || destination === undefined) return 'PROXY UNKNOWN\r\n'
  const bytes = [source, destination].map(({ address }) => requireBytes(address))
  const isIpv4 = bytes.every(({ length }) => length === IPV4_BYTES)
  const [from, to] = bytes.map((ip) => (isIpv4 ? ip.join('.') : longText(mappedBytes(ip))))
  return `PROXY ${isIpv4 ? 'TCP4' : 'TCP6'} ${from} ${to} ${source.port} ${destination.port}\r\n`
}

/** Both addresses in one family: where they differ, the IPv4 one is mapped into IPv6. */
function addressesOf(source: SocketAddress, destination: SocketAddress): number[] {
  const ends = [source, destination]
  const ips = ends.map(({ address }) => requireBytes(address))
  const isIpv4 = ips.every(({ length }) => length === IPV4_BYTES)
  return [
    ...ips.flatMap((ip) => (isIpv4 ? ip : mappedBytes(ip))),
    ...ends.flatMap(({ port }) => [port >> 8, port & 0xff]),
  ]
}

function requireBytes(address: string): number[] {
  const bytes = addressBytes(address)
  if (bytes === undefined) throw new TypeError(`${address} is not an IP address`)
  return bytes
}

/** Eight groups: version 1 has no other form for an IPv4 address in IPv6. */
function longText(bytes: readonly number[]): string {
  return Array.from({ length: IPV6_BYTES / 2 }, (_, group) =>
    ((bytes[2 * group]! << 8) | bytes[2 * group + 1]!).toString(16),
  ).join(':')
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
