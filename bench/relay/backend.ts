// The backend behind the bridges accepts as many connections as are expected, and is one end of each.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { acceptedSocket, type End, socketEnd, type Take } from './socket-end.ts'

/** The byte with which each connection begins; it is not counted. */
export const GREETING: Uint8Array = Uint8Array.of(1)

export class Backend {
  readonly #server: Server
  #accept: (socket: Socket) => void = (socket) => socket.destroy()

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
      this.#accept(socket),
    )
  }

  static async listen(): Promise<Backend> {
    const backend = new Backend()
    backend.#server.listen(0, '127.0.0.1')
    await once(backend.#server, 'listening')
    return backend
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The next this many connections that say something: one that only looked whether a bridge listens does not. */
  accept(count: number, take: Take): Promise<End[]> {
    const ends: End[] = []
    return new Promise((resolve) => {
      this.#accept = (accepted) => {
        let isGreeted = false
        const socket = acceptedSocket(accepted, (bytes) => {
          if (isGreeted) return take(bytes)
          isGreeted = true
          ends.push(end)
          if (ends.length === count) resolve(ends)
          take(bytes.subarray(GREETING.length))
        })
        const end = socketEnd(socket)
      }
    })
  }

  close(): void {
    this.#server.close()
  }
}
