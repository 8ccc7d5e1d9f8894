// Puts the engine behind a TCP port, so that clients that are not ours can talk to it.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach } from 'vitest'
import type { ServerConfig } from '../../src/index.ts'
import { type Handlers, type Session, serve } from './endpoint.ts'

interface Loopback {
  port: number
  /** In the order of their connections. */
  sessions: Session[]
}

const open: { server: Server; sessions: Session[] }[] = []

afterEach(() => {
  for (const { server, sessions } of open.splice(0)) {
    for (const { socket } of sessions) socket.destroy()
    server.close()
  }
})

/** `chunk`: bytes that the server is given at a time. */
export async function listen(
  config: ServerConfig,
  handlers: Handlers = {},
  chunk = Number.POSITIVE_INFINITY,
): Promise<Loopback> {
  const sessions: Session[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sessions.push(serve(config, handlers, socket, chunk))
  })
  open.push({ server, sessions })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
  }
}
