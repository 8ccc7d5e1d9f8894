// A TCP proxy that cuts what the client sends differently; what the server sends goes through as it is.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** `records`: its ClientHello comes in many records; `drip`: its first kilobytes come one byte at a time. */
export type Cut = 'records' | 'drip'

export interface Proxy {
  port: number
  close(): void
}

const RECORD_HEADER_BYTES = 5
const HANDSHAKE = 22
/** Of the records that a ClientHello is cut into: no field of it stays whole. */
const FRAGMENT_BYTES = 7
/** Enough for a ClientHello with a hybrid share and the Finished: after that, whole chunks. */
const DRIP_BYTES = 4096

export async function startProxy(target: number, cut: Cut): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.pipe(client)
    void forward(client, upstream, cut)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function forward(client: Socket, upstream: Socket, cut: Cut): Promise<void> {
  try {
    for await (const chunk of cut === 'drip' ? drip(client) : refragment(client)) {
      if (!upstream.write(chunk)) await once(upstream, 'drain')
      // What is written in one turn of the loop may be read in one piece.
      if (chunk.length === 1) await new Promise((resolve) => setImmediate(resolve))
    }
    upstream.end()
  } catch {
    // Both are closed: the 'error' listener has seen to it.
  }
}

async function* drip(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = DRIP_BYTES
  for await (const chunk of source) {
    const slow = chunk.subarray(0, left)
    for (let at = 0; at < slow.length; at++) yield slow.subarray(at, at + 1)
    left -= slow.length
    if (chunk.length > slow.length) yield chunk.subarray(slow.length)
  }
}

/** RFC 8446 §5.1: "Handshake messages MAY be ... fragmented across several records". */
export async function* refragment(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0)
  let plaintext = true
  for await (const chunk of source) {
    pending = Buffer.concat([pending, chunk])
    while (plaintext && pending.length >= RECORD_HEADER_BYTES) {
      const end = RECORD_HEADER_BYTES + pending.readUInt16BE(3)
      // A ClientHello is the client's only plaintext handshake message: what follows is passed on untouched.
      plaintext = pending[0] === HANDSHAKE
      if (!plaintext || pending.length < end) break
      yield* fragments(pending.subarray(0, end))
      pending = pending.subarray(end)
    }
    if (plaintext) continue
    yield pending
    pending = Buffer.alloc(0)
  }
}

function* fragments(record: Buffer): Generator<Buffer> {
  for (let at = RECORD_HEADER_BYTES; at < record.length; at += FRAGMENT_BYTES) {
    const content = record.subarray(at, at + FRAGMENT_BYTES)
    const header = Buffer.from(record.subarray(0, RECORD_HEADER_BYTES))
    header.writeUInt16BE(content.length, 3)
    yield Buffer.concat([header, content])
  }
}
