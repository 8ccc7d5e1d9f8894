// A path to a UDP port of this machine, for one client, that can be cut in one direction or both.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface UdpPath {
  /** The port that stands for the other end of the path. */
  port: number
  /** Packets in these directions arrive. */
  passes: { there: boolean; back: boolean }
  close(): void
}

export async function startUdpPath(to: number): Promise<UdpPath> {
  const [near, far] = [createSocket('udp4'), createSocket('udp4')]
  let client = 0
  const path: UdpPath = {
    port: 0,
    passes: { there: true, back: true },
    close: () => {
      near.close()
      far.close()
    },
  }
  near.on('message', (bytes, from) => {
    client = from.port
    if (path.passes.there) far.send(bytes, to, '127.0.0.1')
  })
  far.on('message', (bytes) => {
    if (path.passes.back) near.send(bytes, client, '127.0.0.1')
  })
  await once(near.bind(0, '127.0.0.1'), 'listening')
  path.port = near.address().port
  return path
}
