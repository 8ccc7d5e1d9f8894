// Finds the largest DATAGRAM (RFC 9221) that a tunnel's path carries. Either end asks its QUIC for the size of packets.

import { DATAGRAM_ALWAYS_BYTES, PATH_MTU_POLL_MS, TUNNEL_PACKET_OVERHEAD_BYTES } from './limits.ts'

/** A Path is a QUIC connection's knowledge of its path. */
interface Path {
  getMetrics(): object | null
}

/**
 * @returns a function to call before each DATAGRAM; it asks the connection itself only at times, since that waits for
 *   its thread
 */
export function maxDatagramSizeOf(path: Path): () => number {
  let size = 0
  let askedAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - askedAt > PATH_MTU_POLL_MS) {
      askedAt = now
      const { pmtu = 0 }: { pmtu?: number } = path.getMetrics() ?? {}
      size = Math.max(DATAGRAM_ALWAYS_BYTES, pmtu - TUNNEL_PACKET_OVERHEAD_BYTES)
    }
    return size
  }
}
