// Many changes, one write: whoever commits while a write is under way shares the next one.

export class GroupCommit {
  readonly #write: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param write writes all that changed so far; never runs twice at once */
  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Resolves when a write that began after this call is done; rejects when that one failed. */
  commit(): Promise<void> {
    this.#next ??= this.#after(this.#running)
    return this.#next
  }

  /** Yields in any case, so that the changes of one turn go together. */
  async #after(running: Promise<void> | undefined): Promise<void> {
    await running?.catch(() => {})
    this.#running = this.#next
    this.#next = undefined
    await this.#write()
  }
}
