// What a spec file starts once for all its tests, such as a relay with settings of its own.

interface Stoppable {
  stop(): Promise<unknown>
}

/** @returns what the first call of the file with this name has started */
export type OncePerFile = <T extends Stoppable>(name: string, start: () => Promise<T>) => Promise<T>

export class FileScope {
  #file: string | undefined
  readonly #started = new Map<string, Promise<Stoppable>>()

  /** Stops what another file has started. */
  async enter(file: string): Promise<void> {
    if (file !== this.#file) await this.end()
    this.#file = file
  }

  once<T extends Stoppable>(name: string, start: () => Promise<T>): Promise<T> {
    const running = this.#started.get(name) ?? start()
    this.#started.set(name, running)
    return running as Promise<T>
  }

  /** The last one that was started stops first. */
  async end(): Promise<void> {
    const all = [...this.#started.values()].toReversed()
    this.#started.clear()
    for (const one of all)
      await one.then(
        (started) => started.stop(),
        () => undefined,
      )
  }
}
