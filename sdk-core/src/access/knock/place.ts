// The place of one visitor among those who wait.

import { KNOCK_MS, LEAVE_MS } from './limits.ts'
import type { KnockingVisitor } from './visitor.ts'

/** What is known of a visitor who knocks. */
export interface Knocker {
  /** The hash of its ticket. */
  readonly key: string
  readonly address: string | undefined
  /** Undefined when the address is unknown. */
  readonly network: string | undefined
  /** The larger network of {@link network}: its share is bounded too. */
  readonly wide: string
  readonly browser: string
  readonly path: string
}

/** What the owner answered. */
export interface Verdict {
  isAdmitted: boolean
  always: boolean
}

export class Place implements KnockingVisitor {
  readonly code: string
  readonly address: string | undefined
  readonly browser: string
  readonly path: string
  readonly since: number = Date.now()
  readonly knocker: Knocker
  readonly #answered: (verdict: Verdict) => void
  readonly #ended = new AbortController()
  readonly ended: AbortSignal = this.#ended.signal
  readonly #expiry: ReturnType<typeof setTimeout>
  #leaving: ReturnType<typeof setTimeout> | undefined
  /** Ends the request that is held. */
  #release: (() => void) | undefined

  /** @param answered called with the owner's answer, before the place ends */
  constructor(knocker: Knocker, code: string, answered: (verdict: Verdict) => void) {
    const { address, browser, path } = knocker
    this.code = code
    this.address = address
    this.browser = browser
    this.path = path
    this.knocker = knocker
    this.#answered = answered
    this.#expiry = setTimeout(() => this.end(), KNOCK_MS)
    this.touch()
  }

  admit({ always = false }: { always?: boolean | undefined } = {}): void {
    this.#answer({ isAdmitted: true, always })
  }

  refuse({ always = false }: { always?: boolean | undefined } = {}): void {
    this.#answer({ isAdmitted: false, always })
  }

  /** Notes that the visitor still waits, though it has no request now. */
  touch(): void {
    clearTimeout(this.#leaving)
    if (!this.ended.aborted && !this.#release) this.#leaving = setTimeout(() => this.end(), LEAVE_MS)
  }

  /**
   * Resolves when the visitor was answered, its time is over, `ms` have passed, or it has another request, which then waits in place of
   * this one: at most one is held for each.
   * @param gone aborted when the visitor ends the request
   */
  wait(ms: number, gone: AbortSignal): Promise<void> {
    this.#release?.()
    clearTimeout(this.#leaving)
    return new Promise((resolve) => {
      const release = (): void => {
        clearTimeout(timer)
        for (const signal of [gone, this.ended]) signal.removeEventListener('abort', release)
        if (this.#release === release) this.#release = undefined
        this.touch()
        resolve()
      }
      const timer = setTimeout(release, ms)
      this.#release = release
      for (const signal of [gone, this.ended]) signal.addEventListener('abort', release)
      if (gone.aborted || this.ended.aborted) release()
    })
  }

  end(): void {
    clearTimeout(this.#expiry)
    clearTimeout(this.#leaving)
    this.#ended.abort()
  }

  #answer(verdict: Verdict): void {
    if (this.ended.aborted) return
    this.#answered(verdict)
    this.end()
  }
}
