// The honest publisher: a site with a handler, and a service with a TCP and a UDP port of its own. Both are this process's.
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expose, publish } from '@svc/sdk-node'

export const HELLO = 'hello, visitor'
/** Larger than what kernels and streams keep for a reader who does not read. */
const DOWNLOAD_BYTES: number = 32 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

export interface HonestSite {
  url: string
  hostname: string
  tcpPort: number
  udpPort: number
  close(): Promise<void>
}

export async function publishHonestSite(relay: string, ca: string): Promise<HonestSite> {
  const [tcp, udp] = [await startTcpEcho(), await startUdpEcho()]
  const site = await publish({ relay, ca, name: 'honest', identity: newKey(), fetch: answer })
  const service = await expose({
    relay,
    ca,
    name: 'service',
    identity: newKey(),
    tcp: `127.0.0.1:${tcp.port}`,
    udp: `127.0.0.1:${udp.port}`,
  })
  const [ports] = service.sites
  return {
    url: site.url,
    hostname: new URL(site.url).hostname,
    tcpPort: portOf(ports?.tcpAddress),
    udpPort: portOf(ports?.udpAddress),
    close: async () => {
      await Promise.all([site.close(), service.close()])
      tcp.close()
      udp.close()
    },
  }
}

function answer(request: Request): Response {
  const { pathname } = new URL(request.url)
  if (pathname === '/download') return new Response(download())
  return request.body ? new Response(request.body) : new Response(HELLO)
}

/** A chunk when the last one was taken. */
function download(): ReadableStream<Uint8Array> {
  let left = DOWNLOAD_BYTES
  return new ReadableStream({
    pull: (controller) => {
      controller.enqueue(new Uint8Array(CHUNK_BYTES))
      left -= CHUNK_BYTES
      if (left <= 0) controller.close()
    },
  })
}

interface Echo {
  port: number
  close(): void
}

async function startTcpEcho(): Promise<Echo> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

async function startUdpEcho(): Promise<Echo> {
  const socket = createSocket('udp4', (message, { port, address }) => socket.send(message, port, address))
  socket.on('error', () => {})
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, close: () => void socket.close() }
}

function newKey(): Uint8Array {
  return new Uint8Array(randomBytes(32))
}

function portOf(address: string | undefined): number {
  const port = Number(address?.split(':').at(-1))
  if (!port) throw new Error(`${address} has no port`)
  return port
}
