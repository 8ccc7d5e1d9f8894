// Parses the client address in a header of the PROXY protocol, version 2 (HAProxy's proxy-protocol.txt §2.2).

import { crc32c } from './crc32c.ts'
import { normalizeIp } from './ip-address.ts'

export const PROXY_SIGNATURE: Buffer = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
/** Bytes of signature, version and command, family and transport, and the length of the rest. */
export const PROXY_HEADER_MIN_BYTES = 16

const COMMAND = { local: 0x20, proxy: 0x21 } as const
const UNSPECIFIED = 0x00
/** Family and transport of a stream → bytes of its two addresses and ports, and of one address among them. */
const ADDRESSES: Record<number, { bytes: number; ipBytes: 0 | 4 | 16 }> = {
  17: { bytes: 12, ipBytes: 4 },
  33: { bytes: 36, ipBytes: 16 },
  // Two paths of UNIX sockets have no client address.
  49: { bytes: 216, ipBytes: 0 },
}
const TLV_HEAD_BYTES = 3
const TLV_CRC32C = 0x03
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
export function proxyHeaderLength(fixed: Buffer): number {
  if (!fixed.subarray(0, PROXY_SIGNATURE.length).equals(PROXY_SIGNATURE))
    throw new ProxyHeaderError('no PROXY signature')
  return fixed.readUInt16BE(PROXY_HEADER_MIN_BYTES - 2)
}

/**
 * @param header the fixed part and all that follows it
 * @returns the client's address, normalized; undefined for the proxy's own connection, or when it names none
 * @throws ProxyHeaderError
 */
export function proxyClientAddress(header: Buffer): string | undefined {
  const command = header[12]
  // The proxy's health checks send it. The receiver must skip the rest of the header.
  if (command === COMMAND.local) return undefined
  if (command !== COMMAND.proxy) throw new ProxyHeaderError('unknown version or command')
  const family = header[13] ?? UNSPECIFIED
  if (family === UNSPECIFIED) return undefined
  const layout = ADDRESSES[family]
  if (layout === undefined) throw new ProxyHeaderError('not the family of a TCP connection')
  const body = header.subarray(PROXY_HEADER_MIN_BYTES)
  if (body.length < layout.bytes) throw new ProxyHeaderError('shorter than its addresses')
  checkTlvs(header, PROXY_HEADER_MIN_BYTES + layout.bytes)
  return layout.ipBytes === 0 ? undefined : normalizeIp(ipText(body.subarray(0, layout.ipBytes)))
}

/** Checks the framing of the TLVs, and the checksum of the whole header, computed with zeros in its own place. */
function checkTlvs(header: Buffer, start: number): void {
  for (let at = start; at < header.length; ) {
    const value = at + TLV_HEAD_BYTES
    if (value > header.length) throw new ProxyHeaderError('a TLV is cut off')
    const end = value + header.readUInt16BE(at + 1)
    if (end > header.length) throw new ProxyHeaderError('a TLV is longer than the header')
    if (header[at] === TLV_CRC32C) {
      if (end - value !== CRC_BYTES) throw new ProxyHeaderError('a checksum has 4 bytes')
      const blank = Buffer.from(header).fill(0, value, end)
      if (crc32c(blank) !== header.readUInt32BE(value)) throw new ProxyHeaderError('wrong checksum')
    }
    at = end
  }
}

function ipText(ip: Buffer): string {
  if (ip.length === 4) return ip.join('.')
  return Array.from({ length: 8 }, (_, group) => ip.readUInt16BE(2 * group).toString(16)).join(':')
}
