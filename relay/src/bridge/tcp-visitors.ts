// Visitors of dedicated ports, wherever they are served: they close with the ports, which are in the first process.

import type { Socket } from 'node:net'

export class TcpVisitors {
  readonly #open = new Set<Socket>()

  add(visitor: Socket): void {
    this.#open.add(visitor)
    visitor.once('close', () => this.#open.delete(visitor))
  }

  /** Closes them all: dedicated ports are switched off. */
  close(): void {
    for (const visitor of this.#open) visitor.destroy()
  }
}
