// Asks a server by raw HTTP/1.1 over a socket: exactly these bytes, and what came back until the server ended it.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Milliseconds for a whole answer. A server that keeps what it owes open is ended then, and told apart. */
const ANSWER_TIMEOUT_MS = 5_000

/** Where a runtime serves. */
export interface Server {
  port: number
  /** The Host of requests. */
  host: string
  /** The certificate authority of a server that speaks TLS, at its `host`. */
  ca?: string
}

export interface Answer {
  status: number
  reason: string
  /** Names are in lower case. */
  fields: [name: string, value: string][]
  /** Without its chunks. */
  body: Buffer
  /** Whether the server ended the body as its framing says. */
  isWhole: boolean
  /** Interim responses before it. */
  interim: number[]
}

export async function open({ port, host, ca }: Server): Promise<Socket> {
  const at = { host: '127.0.0.1', port }
  const socket = ca ? connectTls({ ...at, ca, servername: host.split(':')[0]! }) : connect(at)
  await once(socket, ca ? 'secureConnect' : 'connect')
  socket.on('error', () => {})
  return socket
}

/** Sends the bytes; resolves with what came until the answer was whole, the server closed, the time was over or `isEnough`. */
export async function ask(
  server: Server,
  request: string,
  isEnough: (received: Buffer) => boolean = () => false,
): Promise<Answer> {
  const socket = await open(server)
  const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT_MS)
  const isHead = request.startsWith('HEAD ')
  let received = Buffer.alloc(0)
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      if (isEnough(received) || isFramed(parse(received, isHead), isHead)) socket.destroy()
    })
  })
  socket.write(request, 'latin1')
  await ended
  clearTimeout(timer)
  return parse(received, isHead)
}

function parse(bytes: Buffer, isHead: boolean): Answer {
  const interim: number[] = []
  for (let rest = bytes; ; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return { status: 0, reason: '', fields: [], body: rest, isWhole: false, interim }
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n')
    const [, status = '0', reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(first) ?? []
    rest = rest.subarray(end + 4)
    if (Number(status) >= 200 || status === '101' || status === '0') {
      const fields = lines.map((line): [string, string] => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      })
      return { status: Number(status), reason, fields, interim, ...bodyOf(fields, rest, isHead) }
    }
    interim.push(Number(status))
  }
}

/** Whether its framing says that it is whole: some servers keep the connection open although they were asked to close it. */
function isFramed({ status, fields, isWhole }: Answer, isHead: boolean): boolean {
  if (status < 200) return false
  if (isHead || status === 204 || status === 304) return true
  return isWhole && fields.some(([name]) => name === 'content-length' || name === 'transfer-encoding')
}

function bodyOf(
  fields: [string, string][],
  rest: Buffer,
  isHead: boolean,
): { body: Buffer; isWhole: boolean } {
  const { 'transfer-encoding': coding, 'content-length': length } = Object.fromEntries(fields)
  if (isHead) return { body: rest, isWhole: true }
  if (coding === 'chunked') return unchunked(rest)
  return { body: rest, isWhole: length === undefined || rest.length === Number(length) }
}

function unchunked(rest: Buffer): { body: Buffer; isWhole: boolean } {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at)
    const length = end < 0 ? Number.NaN : Number.parseInt(rest.toString('latin1', at, end), 16)
    if (Number.isNaN(length) || length === 0) return { body: Buffer.concat(pieces), isWhole: length === 0 }
    pieces.push(rest.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
