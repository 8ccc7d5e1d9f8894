// Finds consecutive free ports for tests, below the ephemeral range of the system.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const FIRST = 20_000
const LAST = 32_000

/** The first of `count` ports that are free for TCP and UDP. */
export async function freeRange(count: number): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - count))
    const ports = Array.from({ length: count }, (_, index) => first + index)
    const free = await Promise.all(ports.map(isFree))
    if (free.every(Boolean)) return first
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const socket = createSocket('udp6')
  try {
    server.listen(port)
    await once(server, 'listening')
    socket.bind(port)
    await once(socket, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
    socket.close()
  }
}
