// A FIFO semaphore: it limits concurrent operations, and the others wait in order.

/** Semaphore limits concurrent operations. */
export class Semaphore {
  #free: number
  /** The waiting callers' start functions, longest waiting first. */
  readonly #waiting = new Set<() => void>()

  /** @param count the most concurrent operations */
  constructor(count: number) {
    this.#free = count
  }

  /** Runs `work` when a slot is free. Settles as `work` does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }

  /**
   * Resolves when a slot is free.
   * @returns releases the slot; further calls do nothing
   * @throws the reason of the signal
   */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(signal)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#release()
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

  /** Passes the slot to the longest waiting caller. */
  #release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free += 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
