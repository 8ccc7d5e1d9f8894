// A client of a relay in this process, which keeps its connections: many requests in little time.

import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { ROOT_HOST, type TestRelay } from '../support/relay.ts'

/** A relay that is busy turns newcomers away, and this process keeps it busy. */
const ATTEMPTS = 10
const AGAIN_MS = 300

interface Asked {
  method: string
  path: string
  headers: Record<string, string>
  /** The body, in chunks. */
  chunks?: Buffer[]
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export class FuzzClient {
  readonly #relay: TestRelay
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(relay: TestRelay) {
    this.#relay = relay
  }

  async ask(asked: Asked): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#ask(asked)
      } catch (error) {
        if (attempt === ATTEMPTS || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
        await pause(AGAIN_MS)
      }
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  async #ask({ method, path, headers, chunks = [] }: Asked): Promise<Answer> {
    const { port, ca } = this.#relay
    const request = httpsRequest({
      host: '127.0.0.1',
      servername: ROOT_HOST,
      port,
      ca,
      method,
      path,
      agent: this.#agent,
      headers: { Host: `${ROOT_HOST}:${port}`, ...headers },
    })
    const answered = once(request, 'response')
    // a refusal may come before the body is whole, and close the connection
    request.on('error', () => {})
    for (const chunk of chunks) request.write(chunk)
    request.end()
    const [response] = await answered
    const pieces: Buffer[] = []
    for await (const piece of response) pieces.push(piece)
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }
  }
}
