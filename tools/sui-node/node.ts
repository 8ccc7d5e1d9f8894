// A full node on a local chain, as a function from requests to responses, so that it runs in Node and in a page.
import { Chain, type ChainOptions } from './chain.ts'
import { BrokenConnection, Faults } from './faults.ts'
import { CORS_HEADERS, messageResponse, readMessage, refusalResponse } from './grpc-web.ts'
import { nodeMethods } from './methods.ts'
import { Refusal } from './status.ts'

/** Names of calls that a node remembers, for tests that count them. */
const MAX_CALLS = 10_000

export class SuiNode {
  readonly chain: Chain
  readonly faults: Faults = new Faults()
  /** Names of the methods that clients called, oldest first. */
  readonly calls: string[] = []
  readonly #methods: ReturnType<typeof nodeMethods>

  constructor(options: ChainOptions = {}) {
    this.chain = new Chain(options)
    this.#methods = nodeMethods(this.chain)
  }

  /** Answers as `fetch` does, for a client in the same process; rejects where a connection would break. */
  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    this.handle(new Request(input, init))

  /** Rejects when a fault says that the connection breaks. */
  async handle(request: Request): Promise<Response> {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: CORS_HEADERS })
    if (request.method !== 'POST') return new Response('Not found\n', { status: 404, headers: CORS_HEADERS })
    const method = this.#methods.get(new URL(request.url).pathname)
    try {
      const message = await readMessage(request)
      if (!method) throw new Refusal('UNIMPLEMENTED', 'the node does not have this method')
      if (this.calls.length < MAX_CALLS) this.calls.push(method.name)
      const fault = this.faults.take(method.name)
      const early = await fault?.before(request.signal)
      if (early) return early
      const answer = await method.call(message)
      const late = await fault?.after(request.signal)
      return late ?? messageResponse(request, method.encode(fault?.rewrite(answer) ?? answer))
    } catch (error) {
      if (error instanceof Refusal) return refusalResponse(error)
      if (error instanceof BrokenConnection) throw error
      return refusalResponse(new Refusal('INTERNAL', String(error)))
    }
  }
}
