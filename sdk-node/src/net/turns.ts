// Lets so many of something happen at once, and the others wait for their turn in order.

export class Turns {
  readonly #max: number
  /** Each begins the turn of a caller. The first one has waited longest. */
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves when the turn begins.
   * @returns ends the turn, once
   * @throws the reason of the signal
   */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#max) this.#taken += 1
    else await this.#wait(signal)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#next()
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.delete(begin)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.add(begin)
    })
  }

  /** The turn goes to the next one, so that nobody who comes later is before it. */
  #next(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
