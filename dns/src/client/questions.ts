// The questions of one client: all of them together are bounded, and servers that were silent are asked last.

import { type AskOptions, ask, type ServerAddress } from './ask.ts'
import type { DnsAnswer, Question } from './message.ts'

export interface QuestionsOptions extends AskOptions {
  /** Questions of all look-ups together. @default without a bound */
  questionsMax?: number | undefined
}

export class Questions {
  readonly signal: AbortSignal
  readonly #options: QuestionsOptions
  readonly #silent = new Set<string>()
  readonly #spent = new AbortController()
  #count = 0

  constructor(options: QuestionsOptions) {
    this.#options = options
    const { signal } = this.#spent
    this.signal = options.signal === undefined ? signal : AbortSignal.any([signal, options.signal])
  }

  /** Counts one question. @throws Error when there are too many, or the caller has ended the look-up */
  take(): void {
    this.#count += 1
    if (this.#count > (this.#options.questionsMax ?? Number.POSITIVE_INFINITY))
      this.#spent.abort(new Error('this takes more questions than one look-up may ask'))
    this.signal.throwIfAborted()
  }

  /** @throws Error that says in a few words why there is no answer, or the reason for which all of them end */
  async ask(server: ServerAddress, question: Question): Promise<DnsAnswer> {
    const { timeoutMs } = this.#options
    try {
      return await ask(server, question, { timeoutMs, signal: this.signal, onTry: () => this.take() })
    } catch (error) {
      this.signal.throwIfAborted()
      this.#silent.add(textOf(server))
      throw error
    }
  }

  /** Addresses that have not answered come last. */
  inOrder(addresses: readonly ServerAddress[]): ServerAddress[] {
    const isSilent = (address: ServerAddress): boolean => this.#silent.has(textOf(address))
    return [...addresses.filter((one) => !isSilent(one)), ...addresses.filter(isSilent)]
  }
}

function textOf({ host, port }: ServerAddress): string {
  return `${host} ${port}`
}
