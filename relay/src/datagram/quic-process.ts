// Runs the QUIC library in a process of its own: ends QUIC, and passes streams and datagrams to the relay and back. An
// attacker can at worst take over this process, which knows no key but that of its own certificate.

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { DATAGRAM_ALWAYS_BYTES, TUNNEL_CLOSE } from '@svc/protocol'
import { dropPrivileges } from './drop-privileges.ts'
import {
  QUIC_BATCH_DATAGRAMS,
  QUIC_BATCH_INTERVAL_MS,
  QUIC_DROPS_REPORT_MS,
  QUIC_PIPE_MAX_BYTES,
  TUNNEL_STREAM_MAX_BYTES,
} from './limits.ts'
import {
  type Begin,
  type Dropped,
  type Failed,
  FRAME,
  type Frame,
  FramePipe,
  type Listening,
  QUIC_PIPE_FD,
} from './process-frames.ts'
import { openQuicEndpoint, type QuicConnection, type QuicEndpoint, type QuicEvents } from './quic.ts'
import { TickBatcher } from './tick-batcher.ts'

interface OpenConnection {
  connection: QuicConnection
  /** Sends the relay's datagrams in batches. */
  sending: TickBatcher<Buffer>
  /** The first stream; the protocol has no other. */
  stream: Duplex | undefined
  /** Whether the relay has answered the token. Datagrams before that belong to no lease. */
  isAuthenticated: boolean
  /** The value that the relay was last sent. */
  datagramMaxBytes: number
}

// Signals reach the whole process group, and the relay decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const open = new Map<number, OpenConnection>()
const dropped: Dropped = { queue_full: 0, unauthenticated: 0 }
let lastId = 0
let endpoint: QuicEndpoint | undefined
const pipe = new FramePipe(new Socket({ fd: QUIC_PIPE_FD }), { frame: onFrame, closed: () => process.exit() })
setInterval(reportDrops, QUIC_DROPS_REPORT_MS).unref()

function onFrame({ kind, connection: id, payload }: Frame): void {
  if (kind === FRAME.begin) void begin(JSON.parse(payload.toString()))
  else if (kind === FRAME.ping) pipe.send(FRAME.pong)
  else if (kind === FRAME.end) void end()
  else {
    const entry = open.get(id)
    if (entry !== undefined) deliver(entry, id, kind, payload)
  }
}

async function begin({ port, certificate }: Begin): Promise<void> {
  try {
    endpoint = await openQuicEndpoint(port, certificate, accept)
    pipe.sendText(FRAME.listening, { is_root: !dropPrivileges() } satisfies Listening)
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    pipe.sendText(FRAME.failed, { message, code } satisfies Failed)
  }
}

async function end(): Promise<void> {
  await endpoint?.close()
  process.exit()
}

/** Applies a frame of the relay to a connection. */
function deliver(entry: OpenConnection, id: number, kind: number, payload: Buffer): void {
  const { connection, stream } = entry
  if (kind === FRAME.datagram) {
    if (!entry.sending.push(Buffer.from(payload))) dropped.queue_full += 1
    reportDatagramSize(entry, id)
  } else if (kind === FRAME.close) connection.close(payload.readUInt32BE(), payload.toString('utf8', 4))
  else if (kind === FRAME.streamEnd) stream?.end()
  else if (kind === FRAME.stream && stream !== undefined) {
    entry.isAuthenticated = true
    stream.write(Buffer.from(payload))
    if (stream.writableLength > TUNNEL_STREAM_MAX_BYTES)
      connection.close(TUNNEL_CLOSE.violation, 'the peer does not read its heartbeats')
  }
}

function accept(connection: QuicConnection): QuicEvents {
  lastId += 1
  const id = lastId
  const entry: OpenConnection = {
    connection,
    sending: new TickBatcher((datagram) => send(connection, datagram), {
      batchSize: QUIC_BATCH_DATAGRAMS,
      intervalMs: QUIC_BATCH_INTERVAL_MS,
    }),
    stream: undefined,
    isAuthenticated: false,
    datagramMaxBytes: DATAGRAM_ALWAYS_BYTES,
  }
  open.set(id, entry)
  pipe.sendText(FRAME.opened, connection.clientIp, id)
  return {
    stream: (stream) => {
      stream.on('error', () => {})
      if (entry.stream !== undefined) stream.destroy()
      else relayStream(entry, id, stream)
    },
    datagram: (bytes) => {
      if (!entry.isAuthenticated) {
        dropped.unauthenticated += 1
        return
      }
      if (pipe.queuedBytes > QUIC_PIPE_MAX_BYTES) dropped.queue_full += 1
      else pipe.send(FRAME.datagram, id, bytes)
      reportDatagramSize(entry, id)
    },
    closed: () => {
      open.delete(id)
      entry.sending.clear()
      pipe.send(FRAME.closed, id)
    },
  }
}

function send(connection: QuicConnection, datagram: Buffer): void {
  if (!connection.send(datagram)) dropped.queue_full += 1
}

function relayStream(entry: OpenConnection, id: number, stream: Duplex): void {
  entry.stream = stream
  stream.on('data', (bytes: Buffer) => {
    reportDatagramSize(entry, id)
    for (let offset = 0; offset < bytes.length; offset += TUNNEL_STREAM_MAX_BYTES)
      pipe.send(FRAME.stream, id, bytes.subarray(offset, offset + TUNNEL_STREAM_MAX_BYTES))
    if (pipe.queuedBytes <= QUIC_PIPE_MAX_BYTES) return
    stream.pause()
    void pipe.drained().then(() => stream.resume())
  })
  stream.on('end', () => pipe.send(FRAME.streamEnd, id))
}

/** Reports a changed datagram size of the path. The library is asked four times a second at most. */
function reportDatagramSize(entry: OpenConnection, id: number): void {
  const { datagramMaxBytes } = entry.connection
  if (datagramMaxBytes === entry.datagramMaxBytes) return
  entry.datagramMaxBytes = datagramMaxBytes
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(datagramMaxBytes)
  pipe.send(FRAME.path, id, payload)
}

function reportDrops(): void {
  if (dropped.queue_full + dropped.unauthenticated === 0) return
  pipe.sendText(FRAME.dropped, dropped)
  dropped.queue_full = 0
  dropped.unauthenticated = 0
}
