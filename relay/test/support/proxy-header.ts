// PROXY protocol v2 headers, written byte by byte from the specification's §2.2.

import { crc32c } from '../../../protocol/src/crc32c.ts'

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** @param commands version and command, then family and transport */
export function proxyHeader(commands: readonly [number, number], body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from(commands), uint16(body.length), body])
}

export const PROXY_TCP4 = [0x21, 0x11] as const
export const PROXY_TCP6 = [0x21, 0x21] as const
export const PROXY_UNIX = [0x21, 0x31] as const
export const LOCAL = [0x20, 0x00] as const

/** The addresses of client and destination, and their ports. */
export function tcp4(source: string): Buffer {
  return Buffer.from([...source.split('.').map(Number), 192, 0, 2, 1, 0x30, 0x39, 0x01, 0xbb])
}

/** @param source the client address, 16 bytes in hexadecimal */
export function tcp6(source: string): Buffer {
  return Buffer.concat([Buffer.from(source, 'hex'), Buffer.alloc(16), Buffer.from([0x30, 0x39, 0x01, 0xbb])])
}

export function tlv(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type]), uint16(value.length), value])
}

/** The header with PP2_TYPE_CRC32C at its end, as its sender computes it. */
export function withChecksum(commands: readonly [number, number], body: Buffer): Buffer {
  const header = proxyHeader(commands, Buffer.concat([body, tlv(0x03, Buffer.alloc(4))]))
  header.writeUInt32BE(crc32c(header), header.length - 4)
  return header
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}
