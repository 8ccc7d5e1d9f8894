// Joins two connections: bytes pass both ways with back-pressure, each direction ends by itself, and a reset is passed
// on as a reset.

import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'

interface Side {
  connection: Duplex
  /** Ends it by a TCP reset. */
  reset(): void
}

/** Listeners for one event of a connection: a pipeline through it and back adds most of them. */
const LISTENERS_MAX = 20

/** Resolves when both connections have ended. */
export async function join(client: Side, ingress: Side): Promise<void> {
  for (const { connection } of [client, ingress]) connection.setMaxListeners(LISTENERS_MAX)
  // The pipeline would end the other side normally, and its peer would take a truncated stream for a complete one.
  client.connection.once('error', () => ingress.reset())
  ingress.connection.once('error', () => client.reset())
  try {
    await pipeline(client.connection, ingress.connection, client.connection)
  } catch {
    client.reset()
    ingress.reset()
  } finally {
    client.connection.destroy()
    ingress.connection.destroy()
  }
}
