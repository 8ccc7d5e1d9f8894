// Finds out whether the client behind a carrier still answers. A frozen page does not, and its connection stays open.

/**
 * When nothing arrives for this long after a ping, the carrier is silent. The relay pings half a second after a visitor
 * came, so the visitor gets an alert after two seconds.
 */
const CARRIER_PROBE_DEADLINE_MS = 1_500

interface ProbedSocket {
  /** Sends a ping, which makes the page send a message. */
  ping(): void
  /** Bytes that the kernel has not taken, and that delay the ping. */
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

  /** Whether the page did not answer the last probe and has sent no message since. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** Number of messages so far. */
  get messagesReceived(): number {
    return this.#received
  }

  /** @param listener called when {@link isSilent} has changed @returns a function that removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Records a message. Any message shows that the page lives: the answer to a ping may be stuck behind bulk data. */
  onMessage(): void {
    this.#received += 1
    if (this.#isSilent) this.#setSilent(false)
  }

  /** Pings the page. Concurrent calls share one probe. @returns whether the page answers */
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
    // A backlog that changes shows that the page reads, and that the ping may not have arrived yet.
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
