// Answers queries over UDP at one address.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import { Client } from './client.ts'
import { UDP_RECEIVE_BUFFER_BYTES, UDP_SEND_QUEUE_MAX_BYTES } from './limits.ts'
import type { Responder } from './responder.ts'

/** A listener. `onEnd` is called when it closes on its own. */
export interface Listener {
  readonly port: number
  close(): Promise<void>
}

interface ListenerOptions {
  /** An IP address. */
  host: string
  /** 0 lets the system choose. */
  port: number
  responder: Responder
  onEnd(error: Error): void
}

/** @throws the system's error, when the address cannot be bound */
export async function listenOverUdp({ host, port, responder, onEnd }: ListenerOptions): Promise<Listener> {
  const socket = createSocket({
    ...(isIPv4(host) ? { type: 'udp4' } : { type: 'udp6', ipv6Only: true }),
    // Answers go to IP addresses: without this, Node defers each for a DNS lookup.
    lookup: (address, _options, callback) => callback(null, address, 0),
  })
  // The event may fire during bind().
  const listening = once(socket, 'listening')
  socket.bind({ address: host, port, exclusive: true })
  await listening.catch((error: Error) => {
    socket.close()
    throw error
  })
  enlargeReceiveBuffer(socket)
  const client = new Client()
  socket.on('message', (message, { address, port: clientPort }) => {
    if (socket.getSendQueueSize() > UDP_SEND_QUEUE_MAX_BYTES) {
      responder.counts.queries.dropped++
      return
    }
    const answer = responder.respond(message, client.set(address), 'udp')
    if (answer && clientPort > 0) socket.send(answer, clientPort, address)
  })
  socket.on('error', (error) => {
    socket.close()
    onEnd(error)
  })
  return { port: socket.address().port, close: () => close(socket) }
}

/** If the system refuses, its own size remains. */
function enlargeReceiveBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(UDP_RECEIVE_BUFFER_BYTES)
  } catch {}
}

async function close(socket: Socket): Promise<void> {
  try {
    socket.close()
  } catch {
    return
  }
  await once(socket, 'close')
}
