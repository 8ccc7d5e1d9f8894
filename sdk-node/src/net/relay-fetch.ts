// `fetch` for the relay's control plane, by Node's HTTP client. It trusts a given CA, and knows `localhost`.

import type { IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import { Readable } from 'node:stream'
import type { FetchInit, FetchResponse } from '@svc/sdk-core'
import { FORGET_INTERVAL_MS, RELAY_CONNECTIONS_MAX } from '../limits.ts'

export class RelayFetch {
  readonly #connect: () => AgentOptions
  #agent: Agent | undefined
  /** The time of `performance.now()` at which the connections were forgotten last. */
  #forgottenAt = Number.NEGATIVE_INFINITY

  /** @param connect returns options of the connections to the relay: a CA, a name resolution */
  constructor(connect: () => AgentOptions) {
    this.#connect = connect
  }

  /**
   * Resolves with the head of the answer, whose body is still to come. It follows no redirect and sends no cookie.
   * @throws the error of the connection, or the reason of the signal
   */
  async fetch(url: string, { method, headers, body, signal }: FetchInit): Promise<FetchResponse> {
    this.#agent ??= new Agent({ ...this.#connect(), keepAlive: true, maxSockets: RELAY_CONNECTIONS_MAX })
    const agent = this.#agent
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(url, { method, headers, signal, agent })
      asked.on('response', resolve)
      asked.on('error', reject)
      asked.end(body)
    })
    const status = answer.statusCode ?? 0
    return {
      status,
      ok: status >= 200 && status <= 299,
      headers: { get: (name) => fieldOf(answer, name) },
      body: Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>,
    }
  }

  /**
   * Closes the connections that are kept. Requests under way have deadlines of their own. All sites of the process call it
   * when the network breaks: the first one counts, so that those that it found again stay.
   */
  forgetConnections(): void {
    const now = performance.now()
    const agent = this.#agent
    if (agent === undefined || now - this.#forgottenAt < FORGET_INTERVAL_MS) return
    this.#forgottenAt = now
    this.#agent = undefined
    agent.maxFreeSockets = 0
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy()
  }
}

function fieldOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()]
  return (Array.isArray(value) ? value.join(', ') : value) ?? null
}
