// A target that sends literal bytes, for what no HTTP server of Node would send.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** What the target does with a connection, once the head of its first request is there. */
export type Answer = (socket: Socket, head: string, connection: number) => void

export interface RawTarget {
  url: string
  /** The connections so far. */
  readonly sockets: Socket[]
  close(): Promise<void>
}

/** @param answer called with each head that comes; the text of a body is part of it */
export async function rawTarget(answer: Answer): Promise<RawTarget> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const connection = sockets.push(socket)
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end + 4)
        text = text.slice(end + 4)
        answer(socket, head, connection)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}
