// The key that opens the inspector, in the live view.

import { explainError } from '../report/explain-error.ts'
import { openBrowser } from './open-browser.ts'

export class InspectKey {
  readonly #look: () => Promise<string>
  readonly #changed: () => void
  readonly #open: (url: string) => void
  #line: string | undefined

  /**
   * @param look resolves with the address of the page
   * @param changed called when `lines` has changed
   */
  constructor(look: () => Promise<string>, changed: () => void, open: (url: string) => void = openBrowser) {
    this.#look = look
    this.#changed = changed
    this.#open = open
  }

  /** The address that was opened last, for a machine without a browser. */
  lines(): string[] {
    return this.#line === undefined ? [] : [this.#line]
  }

  press(key: string): void {
    if (key !== 'i') return
    const shown = this.#look().then(
      (url) => {
        this.#line = `requests: ${url}`
        this.#open(url)
      },
      (error: unknown) => {
        this.#line = explainError(error).message
      },
    )
    void shown.then(this.#changed)
  }
}
