// Gets a DNS cookie from a server, as a client does that proves its address with each later query (RFC 7873).
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { APEX } from './servers.ts'

/** The code of the EDNS option. */
export const COOKIE_OPTION = 10
const CLIENT_COOKIE_BYTES = 8
const OPT = 41
/** Bytes of a UDP answer that the client takes. */
const UDP_MAX_BYTES = 1232
const DEADLINE_MS = 5_000

/** @returns client and server cookie in hexadecimal digits; undefined from a server that sends none */
export async function cookieFrom(port: number): Promise<string | undefined> {
  const client = randomBytes(CLIENT_COOKIE_BYTES)
  const socket = createSocket('udp4')
  try {
    socket.send(query(client), port, '127.0.0.1')
    const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(DEADLINE_MS) })
    return optionWith(client, answer)
  } finally {
    socket.close()
  }
}

function query(cookie: Buffer): Buffer {
  const [id, one, none] = [randomBytes(2), numbers(1), numbers(0)]
  const labels = APEX.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]))
  const question = [...labels, Buffer.of(0), numbers(1, 1)]
  const option = [numbers(COOKIE_OPTION, cookie.length), cookie]
  const record = [Buffer.of(0), numbers(OPT, UDP_MAX_BYTES, 0, 0, 4 + cookie.length), ...option]
  return Buffer.concat([id, none, one, none, none, one, ...question, ...record])
}

/** The server's part follows ours. */
function optionWith(client: Buffer, answer: Buffer): string | undefined {
  const at = answer.indexOf(client)
  const length = at < 2 ? 0 : answer.readUInt16BE(at - 2)
  return length > client.length ? answer.toString('hex', at, at + length) : undefined
}

/** Numbers of 16 bits in network order. */
function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index)
  return bytes
}
