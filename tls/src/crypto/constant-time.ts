// Compares secrets in constant time.

export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!
  return difference === 0
}

export function isAllZero(bytes: Uint8Array): boolean {
  let any = 0
  for (const byte of bytes) any |= byte
  return any === 0
}
