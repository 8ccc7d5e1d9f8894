// Bytes as tests write them: hexadecimal, spaces allowed.

export function hex(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/\s/g, '')
  if (!/^(?:[0-9a-f]{2})*$/.test(digits)) throw new Error(`not hexadecimal: ${text}`)
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
