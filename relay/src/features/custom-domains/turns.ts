// Gives look-ups their turns: each network waits behind its own, and networks that wait take turns.

export class Turns {
  readonly #max: number
  readonly #perNetwork: number
  readonly #running = new Map<string, number>()
  /** By network, the one that has waited longest first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #count = 0

  constructor(max: number, perNetwork: number) {
    this.#max = max
    this.#perNetwork = perNetwork
  }

  /** Resolves when it is the turn of this network. @returns ends the turn; further calls do nothing */
  async take(network: string): Promise<() => void> {
    if (this.#isFree(network)) this.#begin(network)
    else await new Promise<void>((resolve) => this.#wait(network, resolve))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#end(network)
    }
  }

  #isFree(network: string): boolean {
    return this.#count < this.#max && (this.#running.get(network) ?? 0) < this.#perNetwork
  }

  #begin(network: string): void {
    this.#count += 1
    this.#running.set(network, (this.#running.get(network) ?? 0) + 1)
  }

  #wait(network: string, begin: () => void): void {
    const queue = this.#waiting.get(network)
    if (queue === undefined) this.#waiting.set(network, [begin])
    else queue.push(begin)
  }

  #end(network: string): void {
    this.#count -= 1
    const left = (this.#running.get(network) ?? 1) - 1
    if (left > 0) this.#running.set(network, left)
    else this.#running.delete(network)
    for (const [next, queue] of this.#waiting) {
      if (!this.#isFree(next)) continue
      const begin = queue.shift()
      // Behind the others that wait.
      this.#waiting.delete(next)
      if (queue.length > 0) this.#waiting.set(next, queue)
      this.#begin(next)
      begin?.()
      return
    }
  }
}
