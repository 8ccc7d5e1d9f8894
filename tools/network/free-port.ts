// Finds ports that no process has. They are below those that the system gives to connections, and each worker of a test runner has a part
// of its own, so that nobody takes a port between its choice and its use.
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const FIRST = 11_000
const PARTS = 16
const PART_PORTS = 1_300

const worker = Number(process.env.VITEST_POOL_ID ?? process.env.TEST_PARALLEL_INDEX ?? process.pid)
const partFirst: number = FIRST + (worker % PARTS) * PART_PORTS
/** The number of the next port in the part. Another process may have had the part before. */
let next: number = randomInt(PART_PORTS)

/** A port that is free for TCP and UDP. */
export function freePort(): Promise<number> {
  return freeRange(1)
}

/** The first of `count` consecutive ports that are free for TCP and UDP. */
export async function freeRange(count: number): Promise<number> {
  for (;;) {
    if (next + count > PART_PORTS) next = 0
    const ports = Array.from({ length: count }, (_, index) => partFirst + next + index)
    next += count
    const areFree = await Promise.all(ports.map(isFree))
    if (areFree.every(Boolean)) return ports[0]!
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
