// Writes bytes as people read them in tools: an offset, eight bytes in hexadecimal, and their characters.

const ROW_BYTES = 8
/** Printable characters of ASCII. */
const FIRST_PRINTABLE = 0x20
const LAST_PRINTABLE = 0x7e

export function hexdump(bytes: Uint8Array): string {
  const rows: string[] = []
  for (let at = 0; at < bytes.length; at += ROW_BYTES) rows.push(row(at, bytes.subarray(at, at + ROW_BYTES)))
  return rows.join('\n')
}

function row(at: number, bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
  const characters = Array.from(bytes, (byte) =>
    byte >= FIRST_PRINTABLE && byte <= LAST_PRINTABLE ? String.fromCharCode(byte) : '·',
  ).join('')
  return `${at.toString(16).padStart(4, '0')}  ${hex.padEnd(ROW_BYTES * 3 - 1)}  ${characters}`
}
