// QUIC as this SDK needs it: one connection with a stream and datagrams. The only importer of @currentspace/http3.

import type { Duplex } from 'node:stream'
import { getCACertificates } from 'node:tls'
import type { QuicClientSession, QuicConnectOptions } from '@currentspace/http3'
import { maxDatagramSizeOf, TUNNEL_ALPN, TUNNEL_IDLE_MS, TUNNEL_WINDOW_BYTES } from '@svc/protocol'
import { SvcError } from '@svc/sdk-core'

/** The deadline of a QUIC handshake with the relay on one of its addresses, in milliseconds. */
const TUNNEL_CONNECT_DEADLINE_MS = 5_000

export interface QuicTarget {
  /** An IP address. */
  address: string
  port: number
  /** The name that the relay's certificate must have. */
  servername: string
  /** PEM of the CAs to trust instead of the system's. */
  ca: string | Buffer | undefined
}

/** Why this process, which did not keep up, dropped a datagram. */
export type QueueDrop = 'receive_queue_full' | 'send_queue_full' | 'send_too_old'

export interface QuicEvents {
  /** @param at the time of its arrival, in {@link monotonic} milliseconds; default: now */
  datagram(bytes: Uint8Array, at?: number): void
  /** Called with the number of datagrams dropped in a queue to or from the library. */
  dropped(reason: QueueDrop, count: number): void
  /** Called once, when the connection ends for any reason. @param reason the relay's message, or an empty string */
  closed(reason: string): void
}

export interface QuicConnection {
  /** The first stream, which the SDK opened. */
  readonly stream: Duplex
  /** The largest DATAGRAM that currently passes the path, in bytes; larger ones are lost. */
  readonly datagramMaxBytes: number
  /** @returns false when the library did not accept it; true does not guarantee delivery */
  send(datagram: Uint8Array): boolean
  /** Makes the relay send an acknowledgment. */
  ping(): void
  close(): void
}

export const NO_QUIC = 'there is no QUIC, and so no UDP, on this platform'

/** The library's native binary, without io_uring, which containers forbid; or WebAssembly, see quic-worker.ts. */
export type QuicRuntime = 'portable' | 'wasm'

/** @throws SvcError `quic_unavailable`, or `tunnel_unreachable` */
export async function dialQuic(
  target: QuicTarget,
  events: QuicEvents,
  signal?: AbortSignal,
  runtime: QuicRuntime = 'portable',
): Promise<QuicConnection> {
  const session = await begin(target, signal, runtime)
  // An error of the session also closes it.
  session.on('error', () => {})
  let isOpen = true
  const datagramMaxBytes = maxDatagramSizeOf(session)
  const close = (): void => {
    isOpen = false
    session.close().catch(() => {})
  }
  try {
    await session.ready()
    const stream = session.openStream()
    stream.on('error', () => {})
    session.on('datagram', (bytes) => events.datagram(bytes))
    session.on('close', ({ reason }) => {
      isOpen = false
      events.closed(reason)
    })
    return {
      stream,
      get datagramMaxBytes() {
        return datagramMaxBytes()
      },
      send: (datagram) => isOpen && session.sendDatagram(datagram),
      ping: () => void session.ping(),
      close,
    }
  } catch (cause) {
    close()
    const { servername, address, port } = target
    const where = `${servername} at ${address}, UDP port ${port}`
    throw new SvcError('tunnel_unreachable', `no QUIC connection to ${where}`, { cause })
  }
}

/** @throws SvcError `quic_unavailable` when the library has no binary for this platform */
async function begin(
  { address, port, servername, ca = defaultAuthorities() }: QuicTarget,
  signal: AbortSignal | undefined,
  runtimeMode: QuicRuntime,
): Promise<QuicClientSession> {
  try {
    if (runtimeMode === 'wasm' && !('WebAssembly' in globalThis)) throw new Error('there is no WebAssembly')
    const { connectQuic } = await import('@currentspace/http3')
    const options: QuicConnectOptions = {
      ca,
      alpn: [TUNNEL_ALPN],
      enableDatagrams: true,
      connectTimeoutMs: TUNNEL_CONNECT_DEADLINE_MS,
      maxIdleTimeoutMs: TUNNEL_IDLE_MS,
      initialMaxStreamsBidi: 1,
      initialMaxData: TUNNEL_WINDOW_BYTES,
      initialMaxStreamDataBidiLocal: TUNNEL_WINDOW_BYTES,
      runtimeMode,
      ...(signal && { signal }),
    }
    return connectQuic({ address, port, servername }, options)
  } catch (cause) {
    throw new SvcError('quic_unavailable', NO_QUIC, { cause })
  }
}

/** @returns PEM of the CAs that Node trusts, including those from its environment */
export function defaultAuthorities(): string {
  return getCACertificates('default').join('\n')
}
