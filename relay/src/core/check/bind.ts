// Tests whether ports can be bound, by binding each for a moment as the relay would.

import { once } from 'node:events'
import { createServer, type ListenOptions } from 'node:net'
import { openUdpPort } from '../ingress/udp-port.ts'

/** @returns the system's error, or undefined when the address can be bound */
export async function tcpProblem(options: ListenOptions): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer((connection) => connection.destroy())
  server.on('error', () => {})
  try {
    server.listen(options)
    await once(server, 'listening')
  } catch (cause) {
    return cause as NodeJS.ErrnoException
  }
  server.close()
  await once(server, 'close')
  return undefined
}

/** @returns the system's error, or undefined when the port can be bound at the address, or at every address without one */
export async function udpProblem(
  port: number,
  address: string | undefined,
): Promise<NodeJS.ErrnoException | undefined> {
  try {
    const bound = await openUdpPort(port, address, () => {})
    bound.close()
    return undefined
  } catch (cause) {
    return cause as NodeJS.ErrnoException
  }
}
