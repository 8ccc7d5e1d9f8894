// Finds the largest DATAGRAM (RFC 9221) that a tunnel's path carries. Either end asks its QUIC for the size of packets.

import { DATAGRAM_ALWAYS_BYTES, PATH_MTU_POLL_MS, TUNNEL_PACKET_OVERHEAD_BYTES } from './limits.ts'

/** A Path is a QUIC connection's knowledge of its path. */
interface Path {
  /** Returns the metrics, null when there are none. `pmtu` among them is the size of the largest packets, in bytes. */
  getMetrics(): object | null
}

/**
 * maxDatagramSizeOf follows how large the DATAGRAMs are that a path carries.
 * @returns a function to call before each DATAGRAM, for the size in bytes with the flow id, at least
 *   {@link DATAGRAM_ALWAYS_BYTES}; it asks the connection only every {@link PATH_MTU_POLL_MS}, since that waits for its thread
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
