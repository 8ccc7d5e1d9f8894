// Runs the QUIC library in a process of its own: ends QUIC, and passes streams and datagrams to the relay and back. An
// attacker can at worst take over this process, which knows no key but that of its own certificate.

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { forMs } from '@svc/node-kit/pauses'
import {
  DATAGRAM_ALWAYS_BYTES,
  DatagramAggregator,
  DatagramQueue,
  datagramsOf,
  TUNNEL_CLOSE,
} from '@svc/protocol'
import { monotonic } from '../../core/clock.ts'
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
  datagramOf,
  type Failed,
  FRAME,
  type Frame,
  FramePipe,
  type Listening,
  QUIC_PIPE_FD,
} from './process-frames.ts'
import { openQuicEndpoint, type QuicConnection, type QuicEndpoint, type QuicEvents } from './quic.ts'

interface OpenConnection {
  connection: QuicConnection
  /** Sends the relay's datagrams in batches. */
  sending: DatagramQueue<Buffer>
  /** Joins datagrams between that queue and the library, for a peer that takes aggregates. */
  aggregator: DatagramAggregator | undefined
  /** The first stream; the protocol has no other. */
  stream: Duplex | undefined
  /** Whether the relay has answered the token. Datagrams before that belong to no lease. */
  isAuthenticated: boolean
  /** The value last sent to the relay. */
  datagramMaxBytes: number
}

// Signals reach the whole process group, and the relay decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const open = new Map<number, OpenConnection>()
const dropped: Dropped = { queue_full: 0, too_old: 0, unauthenticated: 0 }
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

async function begin({ port, address, certificate }: Begin): Promise<void> {
  try {
    endpoint = await openQuicEndpoint(port, address, certificate, accept)
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
    const { at, datagram } = datagramOf(payload)!
    const copy = Buffer.from(datagram)
    if (!entry.sending.push(copy, at)) drop('queue_full', copy)
    reportDatagramSize(entry, id)
  } else if (kind === FRAME.aggregate) entry.aggregator = aggregatorOf(connection)
  else if (kind === FRAME.close) connection.close(payload.readUInt32BE(), payload.toString('utf8', 4))
  else if (kind === FRAME.streamEnd) stream?.end()
  else if (kind === FRAME.line) writeLine(stream, payload)
  else if (kind === FRAME.stream && stream !== undefined) {
    entry.isAuthenticated = true
    stream.write(Buffer.from(payload))
    if (stream.writableLength > TUNNEL_STREAM_MAX_BYTES)
      connection.close(TUNNEL_CLOSE.violation, 'the peer does not read its heartbeats')
  }
}

/** Visitors decide how many flows there are, so lines leave room for heartbeats: only those can be a violation. */
function writeLine(stream: Duplex | undefined, line: Buffer): void {
  if (stream !== undefined && stream.writableLength + line.length <= TUNNEL_STREAM_MAX_BYTES / 2)
    stream.write(Buffer.from(line))
}

function accept(connection: QuicConnection): QuicEvents {
  lastId += 1
  const id = lastId
  const entry: OpenConnection = {
    connection,
    sending: new DatagramQueue<Buffer>({
      pass: (datagram) => {
        if (entry.aggregator) entry.aggregator.push(datagram)
        else send(connection, datagram)
      },
      tooOld: (datagram) => drop('too_old', datagram),
      batchSize: QUIC_BATCH_DATAGRAMS,
      pause: forMs(QUIC_BATCH_INTERVAL_MS),
      now: monotonic,
    }),
    aggregator: undefined,
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
    datagram: (bytes, at) => {
      if (!entry.isAuthenticated) {
        drop('unauthenticated', bytes)
        return
      }
      if (pipe.queuedBytes > QUIC_PIPE_MAX_BYTES) drop('queue_full', bytes)
      else pipe.sendDatagram(id, bytes, at)
      reportDatagramSize(entry, id)
    },
    closed: () => {
      open.delete(id)
      entry.sending.clear()
      pipe.send(FRAME.closed, id)
    },
  }
}

function send(connection: QuicConnection, bytes: Uint8Array): void {
  if (!connection.send(bytes)) drop('queue_full', bytes)
}

/** Joins the frames of one read of the pipe, or those that waited, since the library takes one frame at a time. */
function aggregatorOf(connection: QuicConnection): DatagramAggregator {
  return new DatagramAggregator({
    pass: (bytes) => send(connection, bytes),
    maxBytes: () => connection.datagramMaxBytes,
    atEndOfTurn: queueMicrotask,
  })
}

/** @param bytes a datagram, or an aggregate, each datagram of which counts */
function drop(reason: keyof Dropped, bytes: Uint8Array): void {
  dropped[reason] += datagramsOf(bytes).length
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

/** Reports a changed datagram size of the path. Asks the library at most four times a second. */
function reportDatagramSize(entry: OpenConnection, id: number): void {
  const { datagramMaxBytes } = entry.connection
  if (datagramMaxBytes === entry.datagramMaxBytes) return
  entry.datagramMaxBytes = datagramMaxBytes
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(datagramMaxBytes)
  pipe.send(FRAME.path, id, payload)
}

function reportDrops(): void {
  if (Object.values(dropped).every((count) => count === 0)) return
  pipe.sendText(FRAME.dropped, dropped)
  Object.assign(dropped, { queue_full: 0, too_old: 0, unauthenticated: 0 } satisfies Dropped)
}
