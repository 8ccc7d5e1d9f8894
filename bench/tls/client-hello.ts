// A real ClientHello, as records, and the same message made long.
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { EXTENSION } from '@svc/tls/messages'

const HEADER_BYTES = 5
const FRAGMENT_MAX_BYTES: number = 2 ** 14
const HANDSHAKE_CONTENT = 22

/** The first record of node:tls, offering this one group. */
export async function recordClientHello(group: string, servername = 'localhost'): Promise<Uint8Array> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>()
  const transport = new Duplex({
    read() {},
    write: (chunk, _encoding, callback) => {
      resolve(new Uint8Array(chunk))
      callback()
    },
  })
  const tls = connect({ socket: transport, servername, ecdhCurve: group, minVersion: 'TLSv1.3' })
  tls.on('error', () => {})
  const record = await promise
  tls.destroy()
  return record
}

/** The message in `record`, padded to `bytes` (RFC 7685), in as many records as it takes. */
export function padClientHello(record: Uint8Array, bytes: number): Uint8Array {
  const message = Buffer.from(record.subarray(HEADER_BYTES))
  const extensionsAt = offsetOfExtensions(message)
  const padding = Buffer.alloc(bytes - message.length)
  padding.writeUInt16BE(EXTENSION.padding, 0)
  padding.writeUInt16BE(padding.length - 4, 2)
  message.writeUIntBE(bytes - 4, 1, 3)
  message.writeUInt16BE(bytes - extensionsAt - 2, extensionsAt)
  const whole = Buffer.concat([message, padding])
  const records: Buffer[] = []
  for (let at = 0; at < whole.length; at += FRAGMENT_MAX_BYTES) {
    const fragment = whole.subarray(at, at + FRAGMENT_MAX_BYTES)
    records.push(Buffer.of(HANDSHAKE_CONTENT, 3, 3, fragment.length >> 8, fragment.length & 0xff), fragment)
  }
  return new Uint8Array(Buffer.concat(records))
}

/** RFC 8446 §4.1.2: behind version, random, session id, cipher suites and compression methods. */
function offsetOfExtensions(message: Buffer): number {
  let at = 4 + 2 + 32
  at += 1 + message[at]!
  at += 2 + message.readUInt16BE(at)
  return at + 1 + message[at]!
}
