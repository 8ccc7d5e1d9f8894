// Finds the largest DATAGRAM (RFC 9221) that a tunnel's path carries, by asking QUIC for the packet size.

import { DATAGRAM_ALWAYS_BYTES, PATH_MTU_POLL_MS, TUNNEL_PACKET_OVERHEAD_BYTES } from './limits.ts'

/** A Path is a QUIC connection with path metrics. */
interface Path {
  /** Returns the metrics, or null. `pmtu` is the largest packet size, in bytes. */
  getMetrics(): object | null
}

/**
 * maxDatagramSizeOf tracks the largest DATAGRAM that a path carries.
 * @returns a function to call before each DATAGRAM, which returns the size in bytes with the flow id, at least
 *   {@link DATAGRAM_ALWAYS_BYTES}; it asks the connection only every {@link PATH_MTU_POLL_MS}, because that waits for its thread
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
