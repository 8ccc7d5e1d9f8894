// Converts between bytes and Latin-1 strings. TextDecoder's "latin1" is windows-1252, and TextEncoder is UTF-8
// only.

/** The arguments of one `fromCharCode` call: JavaScript engines limit them. */
const PART = 8192

export function decodeLatin1(bytes: Uint8Array): string {
  if (bytes.length <= PART) return String.fromCharCode.apply(null, bytes as unknown as number[])
  let text = ''
  for (let at = 0; at < bytes.length; at += PART) text += decodeLatin1(bytes.subarray(at, at + PART))
  return text
}

/** @param text code units up to 255, as in every value of `Headers` */
export function encodeLatin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}
