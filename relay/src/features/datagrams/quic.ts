// Opens a QUIC endpoint whose connections have a stream and datagrams. This is the only importer of @currentspace/http3,
// which runs in a process of its own (quic-process.ts).

import type { Duplex } from 'node:stream'
import { getSystemErrorName } from 'node:util'
import type { QuicServerSession } from '@currentspace/http3'
import { maxDatagramSizeOf, TUNNEL_ALPN, TUNNEL_IDLE_MS, TUNNEL_WINDOW_BYTES } from '@svc/protocol'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import { monotonic } from '../../core/clock.ts'
import { TUNNELS_MAX } from './limits.ts'
import type { QuicCertificate } from './process-frames.ts'

/** A connection whose handshake is complete. */
export interface QuicConnection {
  /** The peer's normalized address, which a Retry has proved. */
  readonly clientIp: string
  /** Size in bytes of the largest DATAGRAM that the path takes now; larger ones would be lost. */
  readonly datagramMaxBytes: number
  /** @returns false when the datagram was dropped; true promises no delivery */
  send(datagram: Uint8Array): boolean
  close(code: number, reason: string): void
}

/** A connection as the relay sees it, through the QUIC process. */
export interface TunnelConnection extends QuicConnection {
  /** Called once the peer has said that it takes aggregates. From then on several datagrams may leave in one frame. */
  aggregate(): void
  /** Writes a line on the first stream. The QUIC process drops it when much waits there. */
  sendLine(line: string): void
}

/** Callbacks of a connection, which must not throw. */
export interface QuicEvents {
  /** The peer opened a stream. */
  stream(stream: Duplex): void
  /** @param at the time of its arrival, in `monotonic` milliseconds */
  datagram(bytes: Uint8Array, at: number): void
  closed(): void
}

export interface QuicEndpoint {
  /** Closes the endpoint and its connections. */
  close(): Promise<void>
}

/** A machine without IPv6 has only the second address. */
const ANY_ADDRESS = ['::', '0.0.0.0']

/**
 * Opens an endpoint.
 * @param address to listen at; undefined: every address
 * @throws Error when the port cannot be bound, or when the library has no binary for this platform
 */
export async function openQuicEndpoint(
  port: number,
  address: string | undefined,
  { chainPem, keyPem }: QuicCertificate,
  accept: (connection: QuicConnection) => QuicEvents,
): Promise<QuicEndpoint> {
  const { createQuicServer } = await import('@currentspace/http3')
  const open = new Set<QuicEvents>()
  let failure: unknown
  for (const host of address === undefined ? ANY_ADDRESS : [address]) {
    const server = createQuicServer({
      key: keyPem,
      cert: chainPem,
      alpn: [TUNNEL_ALPN],
      enableDatagrams: true,
      maxIdleTimeoutMs: TUNNEL_IDLE_MS,
      maxConnections: TUNNELS_MAX,
      initialMaxStreamsBidi: 1,
      initialMaxData: TUNNEL_WINDOW_BYTES,
      initialMaxStreamDataBidiLocal: TUNNEL_WINDOW_BYTES,
      // A client has to prove its address before the relay keeps state for it (RFC 9000 §8.1.2).
      disableRetry: false,
      // The other drivers need io_uring, which containers forbid.
      runtimeMode: 'portable',
    })
    // An error of one connection ends that connection only.
    server.on('error', () => {})
    server.on('session', (session) => takeSession(session, accept, open))
    try {
      await server.listen(port, host)
      return {
        close: async () => {
          await server.close()
          // The library emits no event for it.
          for (const events of open) events.closed()
        },
      }
    } catch (error) {
      failure ??= error
    }
  }
  throw withCode(failure)
}

function takeSession(
  session: QuicServerSession,
  accept: (connection: QuicConnection) => QuicEvents,
  open: Set<QuicEvents>,
): void {
  session.on('error', () => {})
  // The library reuses the handle of a closed connection for the next one, which a late call must not reach.
  let isOpen = true
  const datagramMaxBytes = maxDatagramSizeOf(session)
  const events = accept({
    clientIp: normalizeIp(session.remoteAddress) ?? session.remoteAddress,
    get datagramMaxBytes() {
      return datagramMaxBytes()
    },
    send: (datagram) => isOpen && (attempt(() => session.sendDatagram(datagram)) ?? false),
    close: (code, reason) => void (isOpen && attempt(() => session.close(code, reason))),
  })
  session.on('stream', (stream) => events.stream(stream))
  session.on('datagram', (bytes) => events.datagram(bytes, monotonic()))
  open.add(events)
  session.on('close', () => {
    isOpen = false
    if (open.delete(events)) events.closed()
  })
}

/** The library reports the system's error only in its message, as in `errno=98`. */
function withCode(error: unknown): unknown {
  const [, number] = /errno=(\d+)/.exec(String(error)) ?? []
  return number === undefined ? error : Object.assign(error as Error, { code: getSystemErrorName(-number) })
}

/** Returns undefined when the library throws, as it does for a closed connection. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
