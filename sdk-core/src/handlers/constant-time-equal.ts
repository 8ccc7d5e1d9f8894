// Compares secrets in constant time.

const encoder = new TextEncoder()

/** Compares digests, which have equal length and cannot be guessed byte by byte. */
export async function constantTimeEqual(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all([digest(a), digest(b)])
  let difference = 0
  for (const [index, byte] of left.entries()) difference |= byte ^ right[index]!
  return difference === 0
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}
