// The client's end of a transport: it carries a handshake, and once opened it counts what comes and throws it away.
import { Duplex } from 'node:stream'

export class Sink {
  /** The stream for `tls.connect({ socket })`. */
  readonly client: Duplex
  bytes = 0
  #open = false

  constructor(transport: Duplex) {
    this.client = new Duplex({
      read() {},
      write: (chunk, _encoding, callback) => {
        transport.write(chunk)
        callback()
      },
    })
    transport.on('data', (chunk: Uint8Array) => {
      if (this.#open) this.bytes += chunk.length
      else this.client.push(chunk)
    })
  }

  open(): void {
    this.#open = true
  }
}
