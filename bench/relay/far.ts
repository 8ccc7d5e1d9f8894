// The service behind the bridges: takes as many connections as are expected, and is an end of each.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { acceptedSocket, type End, socketEnd, type Take } from './socket-end.ts'

export class Far {
  readonly #server: Server
  #accept: ((socket: Socket) => void) | undefined

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      // what only looked whether somebody listens
      if (this.#accept === undefined) socket.destroy()
      else this.#accept(socket)
    })
  }

  static async listen(): Promise<Far> {
    const far = new Far()
    far.#server.listen(0, '127.0.0.1')
    await once(far.#server, 'listening')
    return far
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The next so many connections. */
  accept(count: number, take: Take): Promise<End[]> {
    const ends: End[] = []
    return new Promise((resolve) => {
      this.#accept = (socket) => {
        ends.push(socketEnd(acceptedSocket(socket, take)))
        if (ends.length < count) return
        this.#accept = undefined
        resolve(ends)
      }
    })
  }

  close(): void {
    this.#server.close()
  }
}
