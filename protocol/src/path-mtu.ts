// How large a DATAGRAM (RFC 9221) the path of a tunnel takes: either end asks its QUIC for the packets that pass.

import { DATAGRAM_ALWAYS_BYTES, PATH_MTU_POLL_MS, TUNNEL_PACKET_OVERHEAD_BYTES } from './limits.ts'

/** What a QUIC connection knows of its path. */
interface Path {
  getMetrics(): object | null
}

/** @returns what to ask before each DATAGRAM; the connection itself is asked now and then, for that waits for its thread */
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
