// The full nodes of a facilitator, tried in turn: silent or broken ones, and those of another chain, are skipped.

import { MAX_NODE_ANSWER_BYTES, NODE_ANSWER_MS, NODE_AVOIDED_MS } from '../limits.ts'
import { PaymentError } from '../payment-error.ts'
import { SuiGrpcClient, TransactionError } from './libraries.ts'

/** A request to a node; `signal` aborts at the deadline. */
export type Question<T> = (client: SuiGrpcClient, signal: AbortSignal) => Promise<T>

/** ChainState is a node's report about its chain. */
export interface ChainState {
  /** Digest of the first checkpoint, in Base58. */
  chain: string
  epoch: bigint
}

export interface NodesOptions {
  network: string
  endpoints: readonly string[]
  /** Digest of the first checkpoint; undefined where the chain is that of the first node that answers. */
  chain: string | undefined
  fetch: typeof fetch
  now: () => number
}

/** Node is one full node. */
export interface Node {
  readonly endpoint: string
  readonly client: SuiGrpcClient
  avoidedUntil: number
}

/** gRPC codes that concern the request, rather than the node. */
const ANSWERS = new Set([
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'ABORTED',
])

export class Nodes {
  readonly #options: NodesOptions
  readonly #nodes: readonly Node[]
  #chain: string | undefined

  constructor(options: NodesOptions) {
    this.#options = options
    this.#chain = options.chain
    this.#nodes = options.endpoints.map((endpoint) => ({
      endpoint,
      client: new SuiGrpcClient({
        network: options.network.replace('sui:', ''),
        baseUrl: endpoint.endsWith('/') ? endpoint.slice(0, -1) : endpoint,
        fetch: boundedFetch(options.fetch),
      }),
      avoidedUntil: 0,
    }))
  }

  /** Returns the nodes, with those that recently did not answer last. */
  inOrder(): Node[] {
    return [...this.#nodes].sort((one, other) => Number(this.isAvoided(one)) - Number(this.isAvoided(other)))
  }

  /** Returns whether a node recently did not answer. */
  isAvoided({ avoidedUntil }: Node): boolean {
    return avoidedUntil > this.#options.now()
  }

  /**
   * Resolves with the first node's answer. An error from a node may be an answer: {@link isAnswer}.
   * @throws PaymentError `nodes_unavailable` when none has
   */
  async ask<T>(question: Question<T>): Promise<T> {
    let cause: unknown
    for (const node of this.inOrder()) {
      try {
        return await this.askOne(node, question)
      } catch (error) {
        if (isAnswer(error)) throw error
        cause = error
      }
    }
    throw new PaymentError('nodes_unavailable', 'no full node of the chain answers', { cause })
  }

  /** Asks one node, after checking its chain. Rejects with the client's error, or after `ms`. */
  async askOne<T>(node: Node, question: Question<T>, ms: number = NODE_ANSWER_MS): Promise<T> {
    try {
      await this.#checkChain(node)
      return await within(ms, (signal) => question(node.client, signal))
    } catch (error) {
      if (!isAnswer(error)) node.avoidedUntil = this.#options.now() + NODE_AVOIDED_MS
      throw error
    }
  }

  /** @throws PaymentError `nodes_unavailable` */
  state(): Promise<ChainState> {
    return this.ask(async (client, signal) => {
      const { response } = await client.ledgerService.getServiceInfo({}, { abort: signal })
      const epoch = response.epoch ?? (await client.core.getCurrentSystemState({ signal })).systemState.epoch
      if (response.chainId === undefined) throw new Error('the node names no chain')
      return { chain: response.chainId, epoch: BigInt(epoch) }
    })
  }

  async #checkChain({ endpoint, client }: Node): Promise<void> {
    const { chainIdentifier } = await within(NODE_ANSWER_MS, (signal) =>
      client.core.getChainIdentifier({ signal }),
    )
    this.#chain ??= chainIdentifier
    if (chainIdentifier !== this.#chain)
      throw new PaymentError(
        'nodes_unavailable',
        `${new URL(endpoint).origin} is a full node of another chain`,
      )
  }
}

/** Returns whether an error is a node's answer, which another node would repeat. */
export function isAnswer(error: unknown): boolean {
  return isNotFound(error) || ANSWERS.has(codeOf(error))
}

/** Returns whether a node answered that the transaction is unknown. */
export function isNotFound(error: unknown): boolean {
  return error instanceof TransactionError || codeOf(error) === 'NOT_FOUND'
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Runs a request with a deadline, even if its client ignores the signal. */
async function within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error('the full node did not answer in time')
      reject(error)
      late.abort(error)
    }, ms)
  })
  try {
    return await Promise.race([run(late.signal), expired])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a fetch that follows no redirects, accepts only status 200, and limits answers to {@link MAX_NODE_ANSWER_BYTES}. */
function boundedFetch(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, { ...init, redirect: 'error' })
    // A full node reports everything in the gRPC status: a 404 is from another server and says nothing about a transaction.
    if (!response.ok) throw new Error(`the full node answers with status ${response.status}`)
    // A refusal may have only fields: without a body from a node in this process, with an empty one from a URL.
    if (response.body === null) return response
    let length = 0
    const bound = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        length += chunk.length
        if (length > MAX_NODE_ANSWER_BYTES)
          controller.error(new Error('the answer of the full node is too long'))
        else controller.enqueue(chunk)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(bound), { status, statusText, headers })
  }
}
