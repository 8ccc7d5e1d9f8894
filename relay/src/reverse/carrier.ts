// One browser's WebSocket: a yamux session whose streams become ready reverse sessions of the lease.

import {
  AUDIENCE,
  CAPABILITY_DEADLINE_MS,
  CAPABILITY_MAX_BYTES,
  CARRIER_CLOSE,
  STREAM_ANSWER,
} from '@svc/protocol'
import { Session, type Stream } from '@svc/yamux'
import type { WebSocket } from 'ws'
import type { Admissions } from '../lease/credentials.ts'
import type { Lease } from '../lease/lease.ts'
import { CARRIER_CLOSE_DEADLINE_MS, CARRIER_PING_DEADLINE_MS, CARRIER_STREAMS_MAX } from '../limits.ts'
import { StreamDuplex } from './stream-duplex.ts'
import { webSocketTransport } from './websocket-transport.ts'

const LENGTH_BYTES = 2

export interface Carrier {
  /** Finds out whether the page still answers, and closes the WebSocket when it does not. */
  probe(): void
}

/** Serves `socket` until it closes or the lease ends. Bridged streams live as long as the socket does. */
export function serveCarrier(socket: WebSocket, lease: Lease, credentials: Admissions): Carrier {
  const session = new Session(webSocketTransport(socket), {
    role: 'server',
    maxStreams: CARRIER_STREAMS_MAX,
    pingTimeoutMs: CARRIER_PING_DEADLINE_MS,
    onStream: (stream) => void admit(stream, lease, credentials),
  })
  const close = (code: number, reason: string) => {
    socket.close(code, reason)
    setTimeout(() => socket.terminate(), CARRIER_CLOSE_DEADLINE_MS).unref()
  }
  const onLeaseEnd = () => {
    const code = lease.ended.reason === 'replaced' ? CARRIER_CLOSE.leaseReplaced : CARRIER_CLOSE.leaseEnded
    close(code, `lease ${lease.ended.reason}`)
  }
  lease.ended.addEventListener('abort', onLeaseEnd)
  const release = lease.onBar(() => {
    session.transportClosed()
    close(CARRIER_CLOSE.leaseEnded, 'lease not allowed')
  })
  let received = 0
  socket.on('message', (data) => {
    received += 1
    session.receive(data as Buffer)
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    lease.ended.removeEventListener('abort', onLeaseEnd)
    release()
    session.transportClosed()
  })
  return {
    probe: () => {
      const before = received
      // Any message is a sign of life: the answer may be stuck behind bulk data.
      session.ping().catch(() => {
        if (received === before) socket.terminate()
      })
    },
  }
}

/** A stream begins with the capability that is current when it opens: two bytes of length, then the text. */
async function admit(stream: Stream, lease: Lease, credentials: Admissions): Promise<void> {
  const deadline = setTimeout(() => stream.abort(), CAPABILITY_DEADLINE_MS)
  try {
    const capability = await readCapability(stream)
    if (capability === undefined || !isFor(capability, lease, credentials) || !lease.ready.hasRoom) {
      await stream.write(Uint8Array.of(STREAM_ANSWER.rejected))
      return await stream.end()
    }
    await stream.write(Uint8Array.of(STREAM_ANSWER.accepted))
    const session = new StreamDuplex(stream)
    if (!lease.ready.offer(session)) session.destroy()
  } catch {
    stream.abort()
  } finally {
    clearTimeout(deadline)
  }
}

/** Whether the capability is good and of the very lease that opened the WebSocket. */
function isFor(capability: string, lease: Lease, credentials: Admissions): boolean {
  try {
    return credentials.leaseOf(capability, AUDIENCE.reverse) === lease
  } catch {
    return false
  }
}

/** @returns undefined when what came is not one capability and nothing more */
async function readCapability(stream: Stream): Promise<string | undefined> {
  let received = Buffer.alloc(0)
  for (;;) {
    const bytes = await stream.read()
    if (bytes === undefined) return undefined
    received = Buffer.concat([received, bytes])
    if (received.length < LENGTH_BYTES) continue
    const length = received.readUInt16BE(0)
    if (length === 0 || length > CAPABILITY_MAX_BYTES) return undefined
    if (received.length > LENGTH_BYTES + length) return undefined
    if (received.length === LENGTH_BYTES + length) return received.toString('utf8', LENGTH_BYTES)
  }
}
