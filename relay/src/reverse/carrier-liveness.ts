// Whether the page at the other end of a WebSocket still answers. One that is frozen does not, and its connection stays open.

import { CARRIER_SILENCE_MS } from '../limits.ts'

interface Line {
  /** Asks the page for any message. */
  ping(): void
  /** Bytes that the kernel has not taken, which the question waits behind. */
  backlog(): number
}

export class CarrierLiveness {
  readonly #line: Line
  readonly #listeners = new Set<() => void>()
  #heard = 0
  #asking: Promise<boolean> | undefined
  #isSilent = false

  constructor(line: Line) {
    this.#line = line
  }

  /** It did not answer when it was asked last, and nothing has come since. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** Messages so far. */
  get heard(): number {
    return this.#heard
  }

  /** @param listener is called when {@link isSilent} has changed. @returns takes it back */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A message came: any is a sign of life, for the answer may be stuck behind bulk data. */
  hear(): void {
    this.#heard += 1
    if (this.#isSilent) this.#change(false)
  }

  /** Finds out whether the page answers. All who ask at the same time share the question. */
  probe(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<boolean> {
    const [heard, backlog] = [this.#heard, this.#line.backlog()]
    this.#line.ping()
    await new Promise((resolve) => setTimeout(resolve, CARRIER_SILENCE_MS))
    // A backlog that moves shows that somebody takes it, and that the question may not have arrived yet.
    const moves = backlog > 0 && this.#line.backlog() !== backlog
    const isSilent = this.#heard === heard && !moves
    if (isSilent && !this.#isSilent) this.#change(true)
    return !isSilent
  }

  #change(isSilent: boolean): void {
    this.#isSilent = isSilent
    for (const listener of this.#listeners) listener()
  }
}
