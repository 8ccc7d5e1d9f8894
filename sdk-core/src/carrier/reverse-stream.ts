// One reverse stream: the capability and its answer, keepalives while idle, then the marker that starts a connection.

import { BINDING_BYTES, CAPABILITY_DEADLINE_MS, encodeCapability, MARKER, STREAM_ANSWER } from '@svc/protocol'
import type { ProxyHeader } from '@svc/protocol/proxy-protocol'
import { withTimeout } from '@svc/protocol/timers'
import type { ByteStream } from '../bytes/byte-stream.ts'
import { PrefixReader } from '../bytes/prefix-reader.ts'
import { SvcError } from '../errors.ts'
import type { RemoteAddress } from '../exchange/fetch-handler.ts'
import { explained } from '../explained.ts'

/** A Visitor is what the relay says about where a connection comes from. */
export interface Visitor {
  /** Undefined when the relay does not know the visitor's address, or does not tell it. */
  remote: RemoteAddress | undefined
  /** Both ends of the connection. */
  ends: Pick<ProxyHeader, 'source' | 'destination'>
}

/** An Activation is a visitor's connection that the relay bridges onto a stream. */
export interface Activation {
  /** The bytes that name this TLS connection in `/v1/sign`. Undefined for a TCP visitor. */
  binding: Uint8Array | undefined
  /** Set for a site that asked for its visitors' addresses. */
  visitor?: Visitor | undefined
  /** The visitor's connection, from its first byte on. */
  stream: ByteStream
}

/** A ReadyStream is a stream that the relay accepted and that waits for a visitor. */
export interface ReadyStream {
  /** Resolves when a visitor came, or with undefined when the stream ended before that. Never rejects. */
  activation(): Promise<Activation | undefined>
  /**
   * Aborts the stream unless it has a visitor. A visitor that the relay is just sending loses its connection, so only a
   * site that closes calls this.
   */
  retire(): void
}

/**
 * Presents the capability on a new stream.
 * @returns undefined when the relay rejected it
 * @throws SvcError `unexpected_answer` or `relay_unreachable`; the stream is then aborted
 */
export async function offerStream(stream: ByteStream, capability: string): Promise<ReadyStream | undefined> {
  const prefix = new PrefixReader(stream)
  const exchange = async (): Promise<number | undefined> => {
    await stream.write(encodeCapability(capability))
    return prefix.byte()
  }
  try {
    const answer = await withTimeout(
      exchange(),
      CAPABILITY_DEADLINE_MS,
      () => new SvcError('relay_unreachable', 'no answer on a reverse stream in time'),
    )
    if (answer === STREAM_ANSWER.accepted) return awaitVisitor(prefix, stream)
    if (answer !== STREAM_ANSWER.rejected && answer !== undefined)
      throw await explained('unexpected_answer', ['strangeByte', answer])
    stream.abort()
    return undefined
  } catch (error) {
    stream.abort()
    throw error
  }
}

/** Waits for markers on a stream whose carrier has already presented the capability. */
export function readyStream(stream: ByteStream): ReadyStream {
  return awaitVisitor(new PrefixReader(stream), stream)
}

function awaitVisitor(prefix: PrefixReader, stream: ByteStream): ReadyStream {
  let isClaimed = false
  const readMarker = async (): Promise<Activation | undefined> => {
    let marker = await prefix.byte()
    while (marker === MARKER.keepalive) marker = await prefix.byte()
    if (marker !== MARKER.tls && marker !== MARKER.raw) return undefined
    isClaimed = true
    if (marker === MARKER.raw) return { binding: undefined, stream: prefix.rest() }
    const late = (): Error => new Error('no binding in time')
    const binding = await withTimeout(prefix.bytes(BINDING_BYTES), CAPABILITY_DEADLINE_MS, late)
    return binding && { binding, stream: prefix.rest() }
  }
  return {
    retire: () => {
      if (!isClaimed) stream.abort()
    },
    activation: async () => {
      // A stream that broke, or that stalls inside the binding, counts as ended.
      const activation = await readMarker().catch(() => undefined)
      if (!activation) stream.abort()
      return activation
    },
  }
}
