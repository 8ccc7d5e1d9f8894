// Writes the relay's markers on a reverse session, and closes a session that does not take them in time.

import type { Duplex } from 'node:stream'
import { MARKER, MARKER_WRITE_DEADLINE_MS } from '@svc/protocol'

const KEEPALIVE = Buffer.of(MARKER.keepalive)
const RAW = Buffer.of(MARKER.raw)

export function writeKeepalive(session: Duplex): void {
  write(session, KEEPALIVE)
}

export function writeRawActivation(session: Duplex): void {
  write(session, RAW)
}

/** @param binding the bytes that the site must send to `/v1/sign` for this session */
export function writeTlsActivation(session: Duplex, binding: Buffer): void {
  write(session, Buffer.concat([Buffer.of(MARKER.tls), binding]))
}

function write(session: Duplex, bytes: Buffer): void {
  const deadline = setTimeout(() => session.destroy(), MARKER_WRITE_DEADLINE_MS)
  session.write(bytes, () => clearTimeout(deadline))
}
