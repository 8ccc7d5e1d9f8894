// The peer: a node:https server in a process of its own, which answers the same paths. It ends when its parent does.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { createIdentity } from '../tls/identity.ts'
import { CHUNK_BYTES, downloadBytes, PATH, SMALL_BODY } from './work.ts'

/** The first message to the parent. */
export interface Started {
  port: number
  ca: string
}

const CHUNK = Buffer.alloc(CHUNK_BYTES, 7)
const { certificate, key } = createIdentity()

const server = createServer({ cert: certificate, key }, async (request, response) => {
  const url = new URL(request.url!, 'https://localhost')
  if (url.pathname === PATH.small) response.end(SMALL_BODY)
  else if (url.pathname === PATH.download) {
    const bytes = downloadBytes(url)
    response.setHeader('Content-Length', bytes)
    pipeline(Readable.from(chunks(bytes)), response, () => {})
  } else {
    let bytes = 0
    for await (const chunk of request) bytes += chunk.length
    response.end(`${bytes}`)
  }
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send!({ port, ca: certificate } satisfies Started)
})
process.on('disconnect', () => process.exit())

function* chunks(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left)
}
