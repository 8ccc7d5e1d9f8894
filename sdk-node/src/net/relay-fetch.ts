// `fetch` for the relay's control plane, on Node's HTTP client. It trusts a given CA and resolves `localhost`.

import type { ClientRequest, IncomingMessage } from 'node:http'
import { type Agent, request } from 'node:https'
import { pipeline, Readable } from 'node:stream'
import type { Semaphore } from '@svc/node-kit/semaphore'
import type { FetchInit, FetchResponse } from '@svc/sdk-core'
import { encodeForm } from './multipart-form.ts'

/** The pooled connections are dropped at most once in this many milliseconds: a broken network ends the carriers of all sites at once. */
const FORGET_INTERVAL_MS = 1_000

export class RelayFetch {
  readonly #makeAgent: () => Agent
  readonly #semaphore: Semaphore | undefined
  #agent: Agent | undefined
  /** The time of `performance.now()` at which the connections were last dropped. */
  #forgottenAt = Number.NEGATIVE_INFINITY

  /**
   * @param makeAgent makes the agent that pools the connections to the relay
   * @param semaphore limits requests, if the agent does not limit its connections
   */
  constructor(makeAgent: () => Agent, semaphore?: Semaphore) {
    this.#makeAgent = makeAgent
    this.#semaphore = semaphore
  }

  /**
   * Resolves with the head of the answer, before its body. It follows no redirects and sends no cookies.
   * @throws the error of the connection, or the reason of the signal
   */
  async fetch(url: string, { method, headers, body, signal }: FetchInit): Promise<FetchResponse> {
    const end = await this.#semaphore?.acquire(signal)
    this.#agent ??= this.#makeAgent()
    const agent = this.#agent
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(url, { method, headers, signal, agent })
      asked.on('response', resolve)
      asked.on('error', reject)
      if (end) asked.on('close', end)
      // Naming the class FormData would load all of Node's fetch.
      if (typeof body === 'object') sendForm(asked, body, reject)
      else asked.end(body)
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
   * Closes idle connections; running requests have deadlines of their own. All sites of the process call it
   * when the network breaks, and only the first call counts, so that new connections stay.
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

  /** Closes all connections. Running requests fail. */
  close(): void {
    this.#agent?.destroy()
    this.#agent = undefined
  }
}

/** Sends the form as fast as the connection accepts it, until the relay answers. */
function sendForm(asked: ClientRequest, form: FormData, reject: (error: Error) => void): void {
  const { headers, body } = encodeForm(form)
  // The request's own error would only say that its connection ended.
  body.on('error', reject)
  for (const [name, value] of Object.entries(headers)) asked.setHeader(name, value)
  // An error of one ends both.
  pipeline(body, asked, () => {})
  asked.on('response', (answer) => {
    answer.on('end', () => {
      if (!asked.writableFinished) asked.destroy()
    })
  })
}

function fieldOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()]
  return (Array.isArray(value) ? value.join(', ') : value) ?? null
}
