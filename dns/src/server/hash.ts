// Hashes networks and names to the slots of rate limits (FNV-1a with 32 bits). They need no secret: an attacker who spoofs addresses
// can directly spoof the one to slow down.

export const FNV_START = 0x811c_9dc5
const FNV_PRIME = 0x0100_0193

/** @param unit up to 32 bits */
export function fnv(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME)
}

export function hashOfText(text: string): number {
  let hash = FNV_START
  for (let index = 0; index < text.length; index++) hash = fnv(hash, text.charCodeAt(index))
  return hash
}

/** @param other a second hash to combine */
export function slotOf(hash: number, slots: number, other = 0): number {
  const mixed = fnv(hash, other)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % slots
}
