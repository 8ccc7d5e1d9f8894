// Captures a real client's ClientHello.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'

/** @returns the first bytes of Node's own client */
export async function captureHello(serverName?: string, options: ConnectionOptions = {}): Promise<Buffer> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect({ port, ...options, ...(serverName !== undefined && { servername: serverName }) })
  client.on('error', () => {})
  const [socket] = await once(server, 'connection')
  const [hello] = await once(socket, 'data')
  client.destroy()
  server.close()
  return hello
}
