// Whether the page at the other end of a WebSocket still answers. One that is frozen does not, and its connection stays open.

import { CARRIER_PROBE_DEADLINE_MS } from '../limits.ts'

interface ProbedSocket {
  /** Asks the page for any message. */
  ping(): void
  /** Bytes that the kernel has not taken, which the question waits behind. */
  backlog(): number
}

export class CarrierLiveness {
  readonly #socket: ProbedSocket
  readonly #listeners = new Set<() => void>()
  #received = 0
  #probing: Promise<boolean> | undefined
  #isSilent = false

  constructor(socket: ProbedSocket) {
    this.#socket = socket
  }

  /** It did not answer when it was asked last, and nothing has come since. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** Messages so far. */
  get messagesReceived(): number {
    return this.#received
  }

  /** @param listener is called when {@link isSilent} has changed. @returns takes it back */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A message came: any is a sign of life, for the answer may be stuck behind bulk data. */
  onMessage(): void {
    this.#received += 1
    if (this.#isSilent) this.#setSilent(false)
  }

  /** Finds out whether the page answers. All who ask at the same time share the question. */
  probe(): Promise<boolean> {
    this.#probing ??= this.#runProbe().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  async #runProbe(): Promise<boolean> {
    const [received, backlog] = [this.#received, this.#socket.backlog()]
    this.#socket.ping()
    await new Promise((resolve) => setTimeout(resolve, CARRIER_PROBE_DEADLINE_MS))
    // A backlog that moves shows that somebody takes it, and that the question may not have arrived yet.
    const moves = backlog > 0 && this.#socket.backlog() !== backlog
    const isSilent = this.#received === received && !moves
    if (isSilent && !this.#isSilent) this.#setSilent(true)
    return !isSilent
  }

  #setSilent(isSilent: boolean): void {
    this.#isSilent = isSilent
    for (const listener of this.#listeners) listener()
  }
}
