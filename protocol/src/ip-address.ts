// IP addresses as bytes and as text.

/** The length of an IPv4 address, in bytes. */
export const IPV4_BYTES = 4
/** The length of an IPv6 address, in bytes. */
export const IPV6_BYTES = 16
const IPV6_GROUPS = 8
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const IPV6_CHARACTERS = /^[\dA-Fa-f:.]{2,45}$/
/** The first bytes of an IPv4 address in IPv6 (RFC 4291 §2.5.5.2). */
const MAPPED: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/** Returns the address in network byte order, 4 or 16 bytes. Undefined for text that is not an IP address. */
export function addressBytes(address: string): number[] | undefined {
  if (IPV4.test(address)) return address.split('.').map(Number)
  if (!IPV6_CHARACTERS.test(address)) return undefined
  const url = `http://[${address}]`
  if (!URL.canParse(url)) return undefined
  // The URL standard writes IPv6 in hexadecimal groups, with one run of zeros as `::`.
  const compressed = new URL(url).hostname.slice(1, -1)
  const [left = [], right = []] = compressed
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))))
  const groups = [...left, ...new Array(IPV6_GROUPS - left.length - right.length).fill(0), ...right]
  return groups.flatMap((group) => [group >> 8, group & 0xff])
}

/** Returns the 16 bytes of an address, that of an IPv4 address mapped into IPv6. */
export function mappedBytes(bytes: readonly number[]): readonly number[] {
  return bytes.length === IPV4_BYTES ? [...MAPPED, ...bytes] : bytes
}

/** Returns the 4 bytes of an IPv4 address that is mapped into IPv6, and those of other addresses as they are. */
export function unmappedBytes(bytes: readonly number[]): readonly number[] {
  const isMapped = bytes.length === IPV6_BYTES && MAPPED.every((byte, index) => bytes[index] === byte)
  return isMapped ? bytes.slice(MAPPED.length) : bytes
}

/**
 * Returns an address as text: four decimal numbers for IPv4, also for one that is mapped into IPv6; the form of RFC 5952 for other
 * IPv6 addresses.
 * @param bytes 4 or 16, in network byte order
 */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === IPV4_BYTES) return bytes.join('.')
  if (MAPPED.every((byte, index) => bytes[index] === byte)) return bytes.subarray(MAPPED.length).join('.')
  const groups = Array.from({ length: IPV6_GROUPS }, (_, group) =>
    ((bytes[2 * group]! << 8) | bytes[2 * group + 1]!).toString(16),
  )
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
