// Streams of a WebSocket that the relay rejects, each filled with all that its window takes: the relay must not keep bytes that
// no session will read.
import type { TLSSocket } from 'node:tls'
import type { ClientAttack, Facts } from './attack.ts'
import {
  capabilityBytes,
  FLAG,
  webSocketFrame,
  webSocketRequest,
  YAMUX,
  YAMUX_WINDOW_BYTES,
  yamuxFrame,
} from './carrier-frames.ts'
import { openTls, registerLease, type Target, untilThen } from './target.ts'

const MB = 1e6
const LEASES = 3
/** WebSockets, as many as a lease may have. */
const CARRIERS_PER_LEASE = 8
/** Streams, as many as a WebSocket may have. */
const STREAMS = 1024
/** Milliseconds until the attacker begins again with another WebSocket. */
const AGAIN_MS = 250
/** A relay that takes nothing any more is written to again after this. */
const DRAIN_MS = 1000
/** The longest WebSocket message that is sent. */
const BODY_CHUNK_BYTES: number = 64 * 1024

export const attack: ClientAttack = {
  by: 'clients',
  what: 'rejected streams are stuffed with data',
  seconds: 40,
  sliceSeconds: 2,
  least: { WebSockets: LEASES * CARRIERS_PER_LEASE, 'megabytes sent': 200 },
  bounds: {
    // 24 sessions, each with what it may keep for all of its streams together.
    memoryGrowthMaxBytes: 160 * MB,
  },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const facts = { WebSockets: 0, 'megabytes sent': 0 }
  const leases = await Promise.all(
    Array.from({ length: LEASES }, (_, index) => registerLease(target, `stuffer-${index}`, 0)),
  )
  const until = begin()
  const stuff = async (capability: string): Promise<void> => {
    while (Date.now() < until) {
      const { tls, tcp } = await openTls(target, target.rootHost, 0)
      tls.resume().write(webSocketRequest(target, capability))
      facts.WebSockets += 1
      for (let stream = 1; stream < 2 * STREAMS && !tcp.destroyed && Date.now() < until; stream += 2)
        for (const piece of stuffing(stream)) {
          facts['megabytes sent'] += piece.length / MB
          if (!tls.write(piece)) await drained(tls)
        }
      await Promise.race([untilThen(until), new Promise((resolve) => tcp.once('close', resolve))])
      tcp.destroy()
      await untilThen(Math.min(until, Date.now() + AGAIN_MS))
    }
  }
  await Promise.all(
    leases.flatMap(({ reverse_endpoint }) =>
      Array.from({ length: CARRIERS_PER_LEASE }, () => stuff(reverse_endpoint.capability)),
    ),
  )
  return { ...facts, 'megabytes sent': Math.round(facts['megabytes sent']) }
}

/** A stream with an invalid capability, and all that its window takes behind it. */
function* stuffing(stream: number): Generator<Buffer> {
  const first = capabilityBytes('this is no capability')
  yield webSocketFrame(yamuxFrame(YAMUX.data, FLAG.syn, stream, first))
  for (let left = YAMUX_WINDOW_BYTES - first.length; left > 0; left -= BODY_CHUNK_BYTES)
    yield webSocketFrame(
      yamuxFrame(YAMUX.data, FLAG.none, stream, Buffer.alloc(Math.min(BODY_CHUNK_BYTES, left))),
    )
}

/** The kernel has taken what was written, or the connection is over. */
function drained(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      socket.off('drain', settle).off('close', settle)
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(settle, DRAIN_MS)
    socket.on('drain', settle).on('close', settle)
  })
}
