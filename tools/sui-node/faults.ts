// Faults of a node, for tests: it hangs, breaks the connection, answers with an error, or lies.
import { CORS_HEADERS, refusalResponse } from './grpc-web.ts'
import { Refusal } from './status.ts'

/** No answer leaves the node: its server breaks the connection. */
export class BrokenConnection extends Error {}

/** One fault, for calls of one method. */
export interface Fault {
  /** Last part of the method's path, such as `ExecuteTransaction`; default: every method. */
  method?: string
  /** Calls that it strikes; default: 1. */
  times?: number
  /** The moment at which it strikes: before the node does anything, which is the default, or after it has done all. */
  when?: 'before' | 'after'
  /** The node does not answer, until the client gives up. */
  hang?: true
  /** The node breaks the connection. */
  disconnect?: true
  /** The node answers with this status of HTTP. */
  http?: number
  /** The node answers with this status of gRPC. */
  grpc?: ConstructorParameters<typeof Refusal>[0]
  /** The node answers with something else. */
  // biome-ignore lint/suspicious/noExplicitAny: a lie knows which message it changes
  lie?: (answer: any) => object
}

/** Faults that wait for their calls, in the order in which they were added. */
export class Faults {
  readonly #waiting: (Fault & { left: number })[] = []

  add(fault: Fault): void {
    this.#waiting.push({ ...fault, left: fault.times ?? 1 })
  }

  clear(): void {
    this.#waiting.length = 0
  }

  /** @returns the fault for a call of this method, which it uses up once */
  take(method: string): Strike | undefined {
    const index = this.#waiting.findIndex((fault) => fault.method === undefined || fault.method === method)
    const fault = this.#waiting[index]
    if (!fault) return undefined
    fault.left -= 1
    if (fault.left <= 0) this.#waiting.splice(index, 1)
    return new Strike(fault)
  }
}

/** A fault that strikes one call. */
class Strike {
  readonly #fault: Fault

  constructor(fault: Fault) {
    this.#fault = fault
  }

  async before(signal: AbortSignal): Promise<Response | undefined> {
    return this.#fault.when === 'after' ? undefined : await this.#answer(signal)
  }

  async after(signal: AbortSignal): Promise<Response | undefined> {
    return this.#fault.when === 'after' ? await this.#answer(signal) : undefined
  }

  rewrite(answer: object): object | undefined {
    return this.#fault.lie?.(answer)
  }

  async #answer(signal: AbortSignal): Promise<Response | undefined> {
    const { hang, disconnect, http, grpc } = this.#fault
    if (hang)
      await new Promise((_, reject) => {
        const leave = (): void => reject(new BrokenConnection('the client has gone away'))
        if (signal.aborted) leave()
        else signal.addEventListener('abort', leave, { once: true })
      })
    if (disconnect) throw new BrokenConnection('the node breaks the connection')
    if (http !== undefined) return new Response('a fault\n', { status: http, headers: CORS_HEADERS })
    return grpc === undefined ? undefined : refusalResponse(new Refusal(grpc, 'a fault'))
  }
}
