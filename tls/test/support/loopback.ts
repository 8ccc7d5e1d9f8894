// Puts the engine behind a TCP port, so that clients that are not ours can talk to it.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, expect } from 'vitest'
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

/** Expects that as many MiB arrive whole at the engine, and then at the client. */
export async function exchange(
  config: ServerConfig,
  connect: (port: number) => TLSSocket,
  mib: number,
): Promise<{ socket: TLSSocket; sessions: Session[] }> {
  const payload = randomBytes(mib * 1024 * 1024)
  const sent = createHash('sha256').update(payload).digest('hex')
  const seen = createHash('sha256')
  let received = 0
  const { port, sessions } = await listen(config, {
    data: ({ tls }, bytes) => {
      seen.update(bytes)
      received += bytes.length
      if (received === payload.length) void tls.write(payload)
    },
  })
  const socket = connect(port)
  socket.write(payload)
  const back = createHash('sha256')
  let returned = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    back.update(chunk)
    returned += chunk.length
    if (returned === payload.length) break
  }
  expect([seen.digest('hex'), back.digest('hex')]).toEqual([sent, sent])
  return { socket, sessions }
}
