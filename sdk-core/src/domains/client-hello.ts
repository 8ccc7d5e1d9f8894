// Reads whom a visitor asks for, before TLS begins: the server name, and whether an ACME authority validates it.

import { CLIENT_HELLO_MAX_BYTES } from '@svc/protocol'
import { ACME_TLS_ALPN } from '@svc/protocol/acme'
import { settledWithin } from '@svc/protocol/timers'
import type { ClientHello } from '@svc/tls/messages'
import type { ByteStream } from '../bytes/byte-stream.ts'
import { concat } from '../bytes/concat.ts'
import { withPrefix } from '../bytes/prefix-reader.ts'

/** Parses a whole ClientHello message. It is passed, since a second importer would split what each page loads. */
export type ParseClientHello = (message: Uint8Array) => Pick<ClientHello, 'serverName' | 'alpn'>

/** A Greeting is the start of a visitor's connection. */
export interface Greeting {
  /** In lower case. Undefined when the visitor names none, or sends no ClientHello. */
  serverName: string | undefined
  /** True when it offers `acme-tls/1` alone (RFC 8737 §3). */
  isChallenge: boolean
  /** The whole connection. */
  stream: ByteStream
}

const RECORD_HEADER_BYTES = 5
const MESSAGE_HEADER_BYTES = 4
/** ContentType handshake (RFC 8446 §5.1). */
const HANDSHAKE = 22
/** A fatal alert unrecognized_name, in a record. */
const UNRECOGNIZED_NAME = Uint8Array.of(21, 3, 3, 0, 2, 2, 112)
/** The visitor has this many milliseconds to end its side of a refused connection. */
const LINGER_MS = 5_000

/** Resolves with the start of a connection, from which nothing is lost. Rejects when it breaks. */
export async function readGreeting(stream: ByteStream, parse: ParseClientHello): Promise<Greeting> {
  let read: Uint8Array = new Uint8Array()
  let message: Uint8Array | undefined
  // The engine answers what is no ClientHello.
  for (; message === undefined && isHandshake(read); message = firstMessage(read)) {
    const bytes = await stream.read()
    if (bytes === undefined) break
    read = concat([read, bytes])
  }
  const whole = { serverName: undefined, isChallenge: false, stream: withPrefix(stream, read) }
  if (message === undefined) return whole
  try {
    const { serverName, alpn } = parse(message)
    return { ...whole, serverName, isChallenge: alpn.length === 1 && alpn[0] === ACME_TLS_ALPN }
  } catch {
    return whole
  }
}

function isHandshake(read: Uint8Array): boolean {
  return (read[0] ?? HANDSHAKE) === HANDSHAKE && read.length <= CLIENT_HELLO_MAX_BYTES
}

/** Returns the first handshake message, whose records have all come; it may be in several ones (RFC 8446 §5.1). */
function firstMessage(read: Uint8Array): Uint8Array | undefined {
  const fragments: Uint8Array[] = []
  for (let at = 0; at + RECORD_HEADER_BYTES <= read.length && read[at] === HANDSHAKE; ) {
    const start = at + RECORD_HEADER_BYTES
    at = start + ((read[at + 3]! << 8) | read[at + 4]!)
    if (at > read.length) break
    fragments.push(read.subarray(start, at))
  }
  const content = concat(fragments)
  const length = MESSAGE_HEADER_BYTES + ((content[1]! << 16) | (content[2]! << 8) | content[3]!)
  return content.length >= MESSAGE_HEADER_BYTES && content.length >= length
    ? content.subarray(0, length)
    : undefined
}

/** Ends a connection for a name that has no certificate (RFC 6066 §3), when the visitor has read why. Never rejects. */
export async function refuseName(stream: ByteStream): Promise<void> {
  const ended = async (): Promise<void> => {
    await stream.write(UNRECOGNIZED_NAME)
    await stream.end()
    while (await stream.read());
  }
  await settledWithin(ended(), LINGER_MS)
  stream.abort()
}
