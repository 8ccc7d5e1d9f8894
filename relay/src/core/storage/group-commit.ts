// Joins changes into one write: all commits during a write share the next one.

export class GroupCommit {
  readonly #write: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param write writes all changes so far; never runs twice at once */
  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Resolves when a write that began after this call is done. Rejects when that write failed. */
  commit(): Promise<void> {
    this.#next ??= this.#after(this.#running)
    return this.#next
  }

  /** Always yields first, so that changes of one turn of the event loop share a write. */
  async #after(running: Promise<void> | undefined): Promise<void> {
    await running?.catch(() => {})
    this.#running = this.#next
    this.#next = undefined
    await this.#write()
  }
}
