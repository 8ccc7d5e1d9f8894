// Reads the address of a visitor, which a relay with the extension `visitor_address` sends before the visitor's bytes. Loaded only
// by sites that ask for it.

import { CAPABILITY_DEADLINE_MS } from '@svc/protocol'
import { PROXY_HEADER_MIN_BYTES, parseProxyHeader, proxyHeaderLength } from '@svc/protocol/proxy-protocol'
import { withTimeout } from '@svc/protocol/timers'
import { hexOf } from '../bytes/hex.ts'
import { PrefixReader } from '../bytes/prefix-reader.ts'
import type { Activation, Visitor } from '../carrier/reverse-stream.ts'

/** The longest header that a relay may send, in bytes: twice what two IPv6 addresses and the trace id take. */
const HEADER_MAX_BYTES = 142
const LENGTH_BYTES = 2

/**
 * Reads the header of a new connection.
 * @throws Error when it is malformed or late: the next bytes must not be taken for the visitor's
 */
export async function readVisitorAddress(activation: Activation): Promise<Activation> {
  const prefix = new PrefixReader(activation.stream)
  const late = (): Error => new Error("the visitor's address did not follow the marker in time")
  const visitor = await withTimeout(readVisitor(prefix), CAPABILITY_DEADLINE_MS, late)
  return { ...activation, visitor, stream: prefix.rest() }
}

async function readVisitor(prefix: PrefixReader): Promise<Visitor> {
  const [high, low] = await bytes(prefix, LENGTH_BYTES)
  const length = (high! << 8) | low!
  if (length < PROXY_HEADER_MIN_BYTES || length > HEADER_MAX_BYTES)
    throw new Error("the relay's header of a visitor has a wrong length")
  const header = await bytes(prefix, length)
  if (PROXY_HEADER_MIN_BYTES + proxyHeaderLength(header) !== length)
    throw new Error("the relay's header of a visitor contradicts its length")
  const ends = parseProxyHeader(header)
  const { source, traceId } = ends
  const remote = source && {
    ...source,
    reportedBy: 'relay' as const,
    traceId: traceId && hexOf(traceId),
  }
  return { remote, ends }
}

async function bytes(prefix: PrefixReader, count: number): Promise<Uint8Array> {
  const read = await prefix.bytes(count)
  if (read === undefined) throw new Error('the connection ended before its visitor')
  return read
}
