// CRC-32C (Castagnoli, RFC 3720 §12.1), which zlib does not have: the checksum of a PROXY header.

const POLYNOMIAL_REVERSED = 0x82f63b78

export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL_REVERSED : 0)
  }
  return ~crc >>> 0
}
