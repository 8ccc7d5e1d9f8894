// The yamux session of one connection between two machines, from either side.

import type { TLSSocket } from 'node:tls'
import { Session, type Stream } from '@svc/yamux'
import type { SharedReadBuffer } from '../../../core/node-internals/shared-read-buffer.ts'
import { yamuxConnection } from '../../../core/reverse/native-connection.ts'
import {
  LINK_BACKLOG,
  LINK_PING_DEADLINE_MS,
  LINK_PING_MS,
  LINK_STREAMS_MAX,
  LINK_WINDOW_BYTES,
} from '../limits.ts'

/** The receive windows bound what machines buffer for each other; no lease is charged for it. */
const UNMETERED = { hold: (): void => {}, mayGrow: true }

interface LinkSessionOptions {
  /** The machine that dialled is the client, and opens all streams. */
  role: 'client' | 'server'
  readBuffer: SharedReadBuffer | undefined
  onStream?: (stream: Stream) => void
  /** Called once, when the session has closed. */
  onClose: () => void
}

/** @param socket its peer has proven that it knows the secret */
export function openLinkSession(
  socket: TLSSocket,
  { role, readBuffer, onStream, onClose }: LinkSessionOptions,
): Session {
  const connection = yamuxConnection(socket, readBuffer)
  const transport = connection.open(UNMETERED, {
    received: (bytes) => session.receive(bytes),
    closed: () => {
      session.transportClosed()
      onClose()
    },
  })
  const session = new Session(transport, {
    role,
    onStream,
    sharedInput: connection.sharesInput,
    keepAliveIntervalMs: LINK_PING_MS,
    pingTimeoutMs: LINK_PING_DEADLINE_MS,
    maxStreams: LINK_STREAMS_MAX,
    acceptBacklog: LINK_BACKLOG,
    windowBytes: LINK_WINDOW_BYTES,
    // A visitor may be silent for as long as the site allows.
    closeTimeoutMs: 0,
  })
  // A peer that does not answer pings is gone, so its connection is closed.
  void session.closed.then(() => socket.destroy())
  return session
}
