// Tracks the visitors of dedicated ports in this process, so that they close with the ports of the primary process.

import type { Duplex } from 'node:stream'

export class TcpVisitors {
  readonly #open = new Set<Duplex>()

  add(visitor: Duplex): void {
    this.#open.add(visitor)
    visitor.once('close', () => this.#open.delete(visitor))
  }

  /** Closes all of them when dedicated ports are switched off. */
  close(): void {
    for (const visitor of this.#open) visitor.destroy()
  }
}
