// The opening handshake (RFC 6455 §4.2): checks the visitor's request, and makes the answer.

import type { Field } from '../semantics/fields.ts'
import { UpgradeError } from '../semantics/http-error.ts'

const VERSION = '13'
/** The GUID for the proof that the server understood the handshake (§1.3). */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** A key is 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{22}==$/

const MALFORMED = 'The WebSocket handshake is malformed'
const NOT_OFFERED = 'The WebSocket has to offer the subprotocol that is spoken here'

export interface Handshake {
  /** The key of the handshake. Undefined over HTTP/2, which needs no proof (RFC 8441 §5). */
  key: string | undefined
  /** The negotiated subprotocol, or ''. */
  protocol: string
}

/**
 * Checks the request of a handshake.
 * @param protocol the subprotocol that the handler speaks, or ''
 * @param isKeyed whether the visitor must send a key
 * @throws UpgradeError with the status that refuses the request
 */
export function readHandshake({ method, headers }: Request, protocol: string, isKeyed: boolean): Handshake {
  if (!lists(headers, 'upgrade', 'websocket') || !lists(headers, 'connection', 'upgrade'))
    throw new UpgradeError('upgrade_required')
  if (method !== 'GET') throw new UpgradeError('invalid_handshake', MALFORMED)
  if (headers.get('sec-websocket-version') !== VERSION) throw new UpgradeError('upgrade_required')
  const key = isKeyed ? (headers.get('sec-websocket-key') ?? '') : undefined
  if (key !== undefined && !KEY.test(key)) throw new UpgradeError('invalid_handshake', MALFORMED)
  // A server must not name a subprotocol that the visitor did not offer (§4.2.2).
  const isOffered = valuesOf(headers, 'sec-websocket-protocol').includes(protocol)
  if (protocol !== '' && !isOffered) throw new UpgradeError('protocol_not_offered', NOT_OFFERED)
  return { key, protocol }
}

/**
 * Resolves with the fields of the response.
 * @param extensions the negotiated extensions, or ''
 * @param headers fields that the handler adds
 */
export async function handshakeFields(
  { key, protocol, extensions }: Handshake & { extensions: string },
  headers: Headers,
): Promise<Field[]> {
  const fields: Field[] = []
  if (key !== undefined) fields.push(['sec-websocket-accept', await accept(key)])
  if (protocol !== '') fields.push(['sec-websocket-protocol', protocol])
  if (extensions !== '') fields.push(['sec-websocket-extensions', extensions])
  for (const field of headers) if (!isOurs(field[0])) fields.push(field)
  return fields
}

async function accept(key: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(key + GUID))
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}

/**
 * Returns whether only the SDK may set the field: a 101 has no content, and an unsupported extension would corrupt every
 * frame.
 */
function isOurs(name: string): boolean {
  return /^(upgrade|connection|transfer-encoding|content-length|sec-websocket-.*)$/.test(name)
}

function lists(headers: Headers, name: string, value: string): boolean {
  return valuesOf(headers, name).some((one) => one.toLowerCase() === value)
}

function valuesOf(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((value) => value.trim())
}
