// Parses the server_name extension of a ClientHello (RFC 6066 §3).

import { DecodeError } from './errors.ts'
import { Reader } from './reader.ts'

const HOST_NAME = 0
/** 255 octets of DNS on the wire are 253 characters without a trailing dot (RFC 1035 §2.3.4). */
const HOST_NAME_MAX_CHARS = 253
/** A hostname has ASCII letters, digits, hyphens, and underscores, which occur in practice, but no trailing dot. */
const HOST_NAME_PATTERN = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

/**
 * Parses the extension.
 * @returns the host_name in lower case; undefined when there are only other name types
 */
export function parseServerName(body: Uint8Array): string | undefined {
  const extension = new Reader(body, 'server_name')
  const list = new Reader(extension.vector(2, 1), 'server_name list')
  extension.end()
  let hostName: string | undefined
  while (!list.done) {
    const type = list.u8()
    const name = list.vector(2, 1)
    if (type !== HOST_NAME) continue
    if (hostName !== undefined) throw new DecodeError('illegal_parameter', 'two host names in server_name')
    hostName = parseHostName(name)
  }
  return hostName
}

function parseHostName(bytes: Uint8Array): string {
  const name = bytes.length <= HOST_NAME_MAX_CHARS ? String.fromCharCode(...bytes).toLowerCase() : ''
  if (!HOST_NAME_PATTERN.test(name))
    throw new DecodeError('illegal_parameter', 'server_name is not a DNS name')
  return name
}
