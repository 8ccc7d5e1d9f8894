// Bytes as lines of offset, hexadecimal digits and characters.

const LINE_BYTES = 16

export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const row = Array.from(bytes.subarray(at, at + LINE_BYTES))
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0'))
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    const left = digits.slice(0, LINE_BYTES / 2).join(' ')
    const right = digits.slice(LINE_BYTES / 2).join(' ')
    lines.push(`${at.toString(16).padStart(8, '0')}  ${`${left}  ${right}`.padEnd(48)}  ${text}`)
  }
  return lines.join('\n')
}
