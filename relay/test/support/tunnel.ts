// A datagram tunnel from the SDK's side, by hand: QUIC, the first stream, and whatever a test sends besides.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { connectQuic, type QuicClientSession } from '@currentspace/http3'
import { TUNNEL_ALPN, TUNNEL_WINDOW_BYTES } from '@svc/protocol'
import { ROOT_HOST, type TestClient } from './relay.ts'

export interface TestTunnel {
  session: QuicClientSession
  stream: Duplex
  /** The bytes that came on the stream so far. */
  received(): string
  /** The answer to a hello. */
  hello(accessToken: string, extensions?: { aggregates?: boolean }): Promise<unknown>
  /** DATAGRAM frames that came, in hexadecimal digits. */
  datagrams: string[]
  /** The reason with which the relay closed it. */
  closed: Promise<{ errorCode: number; reason: string }>
  close(): Promise<void>
}

export async function openTunnel(
  relay: TestClient,
  alpn: string = TUNNEL_ALPN,
  servername: string = ROOT_HOST,
): Promise<TestTunnel> {
  const session = connectQuic(
    { address: '127.0.0.1', port: relay.port, servername },
    {
      ca: relay.ca,
      alpn: [alpn],
      enableDatagrams: true,
      initialMaxData: TUNNEL_WINDOW_BYTES,
      initialMaxStreamDataBidiLocal: TUNNEL_WINDOW_BYTES,
      runtimeMode: 'portable',
      // Longer than the relay's, which is the one that counts.
      maxIdleTimeoutMs: 10 * 60_000,
      // with another protocol no answer comes
      connectTimeoutMs: alpn === TUNNEL_ALPN ? 5_000 : 1_000,
    },
  )
  session.on('error', () => {})
  const closed = new Promise<{ errorCode: number; reason: string }>((resolve) => session.on('close', resolve))
  try {
    await session.ready()
  } catch (error) {
    await session.close()
    throw error
  }
  const datagrams: string[] = []
  session.on('datagram', (bytes) => datagrams.push(bytes.toString('hex')))
  const stream = session.openStream()
  stream.on('error', () => {})
  const chunks: Buffer[] = []
  stream.on('data', (bytes: Buffer) => chunks.push(bytes))
  return {
    session,
    stream,
    received: () => Buffer.concat(chunks).toString(),
    hello: async (accessToken, extensions = {}) => {
      stream.write(JSON.stringify({ access_token: accessToken, ...extensions }))
      while (!Buffer.concat(chunks).toString().endsWith('}')) await once(stream, 'data')
      return JSON.parse(Buffer.concat(chunks).toString())
    },
    datagrams,
    closed,
    close: () => session.close(),
  }
}

export interface Visitor {
  socket: Socket
  /** The datagrams that came, in hexadecimal digits, with the port of each sender. */
  got: { payload: string; port: number }[]
  send(payload: Uint8Array | string): void
}

/** A UDP client of a port on this machine. */
export function visitorOf(port: number, type: 'udp4' | 'udp6' = 'udp4'): Visitor {
  const socket = createSocket(type)
  const got: Visitor['got'] = []
  socket.on('message', (payload, from) => got.push({ payload: payload.toString('hex'), port: from.port }))
  const host = type === 'udp4' ? '127.0.0.1' : '::1'
  return { socket, got, send: (payload) => socket.send(payload, port, host) }
}
