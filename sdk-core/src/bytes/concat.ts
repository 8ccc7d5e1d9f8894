// Concatenates byte arrays.

/** Returns the parts in one array. A single part is returned without a copy. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter((part) => part.length > 0)
  if (filled.length === 1) return filled[0]!
  let length = 0
  for (const part of filled) length += part.length
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of filled) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
