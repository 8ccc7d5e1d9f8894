// The service that all tunnels lead to, in a process of its own. It ends when its parent does.
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { downloadBytes } from '../http/work.ts'
import { createIdentity } from '../tls/identity.ts'
import { CHUNK_BYTES, REQUEST_BYTES, type Service, WORK } from './work.ts'

const CHUNK = Buffer.alloc(CHUNK_BYTES, 7)
const { certificate, key } = createIdentity()

const tcp = createServer({ allowHalfOpen: true, noDelay: true }, serve)
const tls = createTlsServer({ cert: certificate, key, allowHalfOpen: true }, serve)
const page: RequestListener = (request, response) => {
  const bytes = downloadBytes(new URL(request.url!, 'http://localhost'))
  response.setHeader('Content-Length', bytes)
  Readable.from(chunks(bytes)).pipe(response)
}
process.on('disconnect', () => process.exit())
const service: Service = {
  tcp: await listen(tcp),
  tls: await listen(tls),
  http: await listen(createHttpServer(page)),
  https: await listen(createHttpsServer({ cert: certificate, key }, page)),
  certificate,
}
process.send!(service)

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function serve(socket: Socket): void {
  socket.setNoDelay()
  socket.on('error', () => {})
  socket.once('readable', () => {
    const request: Buffer | null = socket.read(REQUEST_BYTES)
    if (request === null) socket.end()
    else answer(socket, request[0]!, request.readUInt32BE(1))
  })
}

function answer(socket: Socket, work: number, bytes: number): void {
  if (work === WORK.echo) socket.pipe(socket)
  else if (work === WORK.download) Readable.from(chunks(bytes)).pipe(socket)
  else {
    let left = bytes
    socket.on('data', (chunk) => {
      left -= chunk.length
      if (left === 0) socket.end('.')
    })
  }
}

function* chunks(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left)
}
