// A TCP proxy in front of the relay that keeps all bytes that pass, which is what the network can see.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Wire {
  /** The recorded bytes, one entry a connection, with both directions in one piece. */
  connections(): { toRelay: Buffer; fromRelay: Buffer }[]
  close(): Promise<void>
}

export async function recordWire(publicPort: number, relayPort: number): Promise<Wire> {
  const recorded: { toRelay: Buffer[]; fromRelay: Buffer[] }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const relay = connect(relayPort, '127.0.0.1')
    const chunks = { toRelay: [] as Buffer[], fromRelay: [] as Buffer[] }
    recorded.push(chunks)
    client.on('data', (chunk) => chunks.toRelay.push(chunk as Buffer)).pipe(relay)
    relay.on('data', (chunk) => chunks.fromRelay.push(chunk as Buffer)).pipe(client)
    for (const [socket, peer] of [
      [client, relay],
      [relay, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => peer.destroy()).on('close', () => sockets.delete(socket))
    }
  })
  server.listen(publicPort)
  await once(server, 'listening')
  return {
    connections: () =>
      recorded.map(({ toRelay, fromRelay }) => ({
        toRelay: Buffer.concat(toRelay),
        fromRelay: Buffer.concat(fromRelay),
      })),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
