// A TCP proxy that stands for distance: what passes arrives later, a new connection costs a round trip, and some of it is lost.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Bytes of one segment on an Ethernet: loss is counted in these. */
const SEGMENT_BYTES = 1448
/** Bytes on their way in one direction of a connection: a window that 100 ms do not make the bound. */
const WINDOW_BYTES: number = 4 * 1024 * 1024

export interface Distance {
  roundTripMs: number
  /**
   * The part of the segments that is lost, between 0 and 1. A lost one arrives a round trip later, as with a fast
   * retransmission, and all that follow it wait. The proxy does not slow the sender down for it.
   */
  loss: number
}

export class DelayProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  distance: Distance = { roundTripMs: 0, loss: 0 }

  static async start(targetPort: () => number): Promise<DelayProxy> {
    const proxy = new DelayProxy(targetPort)
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  private constructor(targetPort: () => number) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = connect({ port: targetPort(), host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
      }
      // The client could send only after the round trip of SYN and SYN-ACK.
      carry(near, far, this.distance, this.distance.roundTripMs)
      carry(far, near, this.distance, 0)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** @param setUpMs by which the first bytes of the connection are later than the distance alone */
function carry(from: Socket, to: Socket, { roundTripMs, loss }: Distance, setUpMs: number): void {
  let lastAt = performance.now() + setUpMs
  let onTheWay = 0
  const later = (bytes: number, run: () => void): void => {
    let at = Math.max(performance.now(), lastAt - roundTripMs / 2) + roundTripMs / 2
    const segments = Math.ceil(bytes / SEGMENT_BYTES)
    if (Math.random() > (1 - loss) ** segments) at += roundTripMs
    lastAt = Math.max(lastAt, at)
    setTimeout(run, lastAt - performance.now())
  }
  from.on('data', (bytes: Buffer) => {
    onTheWay += bytes.length
    if (onTheWay > WINDOW_BYTES) from.pause()
    later(bytes.length, () => {
      onTheWay -= bytes.length
      if (!to.write(bytes)) to.once('drain', () => from.resume())
      else if (onTheWay <= WINDOW_BYTES) from.resume()
    })
  })
  from.on('end', () => later(0, () => to.end()))
  from.on('close', () => later(0, () => to.destroy()))
}
