// A TCP proxy that can fall silent: connections stay open, and nothing passes them any more.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export class StallProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #stalled = false
  target = 0

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(): Promise<StallProxy> {
    const proxy = new StallProxy()
    proxy.#server.listen(0)
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stall(): void {
    this.#stalled = true
    for (const socket of this.#sockets) this.#silence(socket)
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #serve(near: Socket): void {
    this.#keep(near)
    if (this.#stalled) return
    const far = connect(this.target, '127.0.0.1')
    this.#keep(far)
    near.pipe(far)
    far.pipe(near)
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    if (this.#stalled) this.#silence(socket)
  }

  #silence(socket: Socket): void {
    socket.unpipe()
    socket.pause()
  }
}
