// A visitor for tests: sends literal bytes to a server in memory and reads literal bytes back.

import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import type { HttpOptions } from '../../src/exchange/http-options.ts'
import { serveHttp1 } from '../../src/http1/connection.ts'
import { MemoryStream } from '../support/memory-stream.ts'

export const latin1 = {
  encode: (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0)),
  decode: (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1'),
}

export class Visitor {
  readonly stream: MemoryStream
  /** The server's end of the connection. */
  readonly server: MemoryStream
  /** Settles when the server is done with the connection. */
  readonly served: Promise<void>
  readonly requests: Request[] = []
  readonly errors: unknown[] = []
  #received = ''

  constructor(fetch: FetchHandler = () => new Response('ok'), options: Partial<HttpOptions> = {}) {
    ;[this.stream, this.server] = MemoryStream.pair()
    this.served = serveHttp1(this.server, {
      fetch: (request, ...rest) => {
        this.requests.push(request)
        return fetch(request, ...rest)
      },
      isOwnHost: (host) => host === 'site.example',
      canonicalUrl: 'https://site.example/',
      onError: (error) => this.errors.push(error),
      ...options,
    })
  }

  async send(...parts: (string | Uint8Array)[]): Promise<this> {
    for (const part of parts)
      await this.stream.write(typeof part === 'string' ? latin1.encode(part) : part).catch(() => {})
    return this
  }

  end(): Promise<void> {
    return this.stream.end()
  }

  /** Reads until what was received since the last time has `text` so often, and gives all of that, without dates. */
  async receive(text: string, times = 1): Promise<string> {
    while (this.#received.split(text).length <= times) {
      const bytes = await this.stream.read()
      if (!bytes) throw new Error(`the connection ended after ${JSON.stringify(this.#received)}`)
      this.#received += latin1.decode(bytes)
    }
    return this.#take()
  }

  /** Reads to the end of the server's direction and gives all of it, without dates. */
  async rest(): Promise<string> {
    for (;;) {
      const bytes = await this.stream.read()
      if (!bytes) return this.#take()
      this.#received += latin1.decode(bytes)
    }
  }

  #take(): string {
    const received = this.#received.replaceAll(/date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/g, '')
    this.#received = ''
    return received
  }
}

/** All that the server says to `bytes`, after which the visitor ends its direction. */
export async function converse(bytes: string | Uint8Array, fetch?: FetchHandler): Promise<string> {
  const visitor = await new Visitor(fetch).send(bytes)
  await visitor.end()
  return visitor.rest()
}

/** The status of the refusal that `bytes` get; fails when a handler saw the request or the connection stays open. */
export async function refusalOf(bytes: string | Uint8Array): Promise<number> {
  const visitor = await new Visitor().send(bytes)
  const answer = await visitor.rest()
  if (visitor.requests.length > 0) throw new Error(`a handler was called for ${visitor.requests[0]?.url}`)
  if (!/^HTTP\/1\.1 \d{3} .*\r\nconnection: close\r\n/s.test(answer))
    throw new Error(`not a refusal: ${answer}`)
  return Number(answer.slice(9, 12))
}
