// Writes the relay's markers on a reverse session, and closes a session that does not take them in time.

import type { Duplex } from 'node:stream'
import { MARKER, MARKER_WRITE_DEADLINE_MS } from '@svc/protocol'
import { encodeProxyHeader } from '@svc/protocol/proxy-protocol'
import type { TracedAddresses } from './pending-visitor.ts'

const KEEPALIVE = Buffer.of(MARKER.keepalive)
const RAW = Buffer.of(MARKER.raw)

export function writeKeepalive(session: Duplex): void {
  write(session, KEEPALIVE)
}

/** @param addresses undefined if the lease did not ask for them */
export function writeRawActivation(session: Duplex, addresses: TracedAddresses | undefined): void {
  write(session, addresses === undefined ? RAW : Buffer.concat([RAW, ...framedHeader(addresses)]))
}

/**
 * @param binding the bytes that the site must send to `/v1/sign` for this session
 * @param addresses undefined if the lease did not ask for them
 */
export function writeTlsActivation(
  session: Duplex,
  binding: Buffer,
  addresses: TracedAddresses | undefined,
): void {
  write(session, Buffer.concat([Buffer.of(MARKER.tls), binding, ...framedHeader(addresses)]))
}

/** The length in two bytes, and a header of the PROXY protocol. */
function framedHeader(addresses: TracedAddresses | undefined): Uint8Array[] {
  if (addresses === undefined) return []
  const header = encodeProxyHeader(addresses)
  return [Buffer.of(header.length >> 8, header.length & 0xff), header]
}

function write(session: Duplex, bytes: Buffer): void {
  const deadline = setTimeout(() => session.destroy(), MARKER_WRITE_DEADLINE_MS)
  session.write(bytes, () => clearTimeout(deadline))
}
