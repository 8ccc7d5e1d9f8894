// The server_name extension of a ClientHello (RFC 6066 §3).

import { DecodeError } from './errors.ts'
import { Reader } from './reader.ts'

const HOST_NAME = 0
/** RFC 1035 §2.3.4: 255 octets on the wire of DNS, which are 253 characters without a trailing dot. */
const HOST_NAME_MAX_CHARS = 253
/** ASCII letters, digits, hyphen, and the underscore that names in use do have; no trailing dot. */
const HOST_NAME_PATTERN = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

/** @returns the host_name in lower case; undefined when only other name types are there */
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
