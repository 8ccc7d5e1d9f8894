// Ends the parts of a relay that have started: at its shutdown, and when a later part cannot start.

import type { Logger } from './log/log.ts'

interface StartedPart {
  /** Resolves when nothing of the part is left. */
  close(): unknown
}

export class StartedParts {
  readonly #log: Logger
  /** In the order in which they started. */
  readonly #parts: StartedPart[] = []

  constructor(log: Logger) {
    this.#log = log
  }

  /** Takes a part as soon as it has started. @param part undefined for one that the operator did not turn on @returns the same */
  add<Part extends StartedPart | undefined>(part: Part): Part {
    if (part !== undefined) this.#parts.push(part)
    return part
  }

  /**
   * Ends every part after those that started later, which may need it. A part that fails does not keep the others from
   * ending. Never rejects; a second call does nothing.
   */
  async close(): Promise<void> {
    for (const part of this.#parts.splice(0).reverse())
      try {
        await part.close()
      } catch (error) {
        this.#log.error({ err: error }, 'a part of the relay did not end in order')
      }
  }
}
