// Tells whether a TCP port of this machine accepts connections.
import { once } from 'node:events'
import { connect } from 'node:net'

export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    // A client that only ends its half would wait for a session.
    socket.resetAndDestroy()
  }
}
