// One request on its direct way to the target: with the fields of a proxy, over a kept connection where there is one.

import type { Socket } from 'node:net'
import type { DirectExchange, DirectRequest, DirectResponse } from '@svc/sdk-core'
import type { TargetConnection } from '../http-client/connection.ts'
import type { ConnectionPool } from '../http-client/connection-pool.ts'
import { type OutgoingRequest, TargetExchange } from '../http-client/exchange.ts'
import { forwardedFields } from './forwarded-fields.ts'
import { targetPath } from './target-path.ts'
import { textResponse } from './text-response.ts'

/** RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Requests of these methods say so when they have no content (RFC 9110 §8.6): a server might wait for it. */
const USUALLY_WITH_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
const BAD_GATEWAY = 'The server behind this site does not answer\n'

export class ForwardedExchange implements DirectExchange {
  readonly #request: OutgoingRequest
  readonly #pool: ConnectionPool
  readonly #report: (cause: unknown) => void
  #opening: Socket | undefined
  #exchange: TargetExchange | undefined
  #cancelled: { reason: unknown } | undefined

  /** @param report called with the error of a target that does not answer; the visitor then gets 502 */
  constructor(request: DirectRequest, target: URL, pool: ConnectionPool, report: (cause: unknown) => void) {
    this.#request = encodeRequest(request, target)
    this.#pool = pool
    this.#report = report
  }

  async respond(): Promise<DirectResponse> {
    try {
      return await this.#ask()
    } catch (cause) {
      if (this.#cancelled) throw this.#cancelled.reason
      if (this.#exchange?.hasBrokenBody) throw cause
      this.#report(cause)
      return badGateway()
    }
  }

  cancel(reason: unknown): void {
    this.#cancelled ??= { reason }
    this.#opening?.destroy()
    this.#exchange?.cancel(reason)
  }

  async #ask(): Promise<DirectResponse> {
    if (this.#cancelled) throw this.#cancelled.reason
    const kept = this.#pool.take()
    if (kept) {
      try {
        return await this.#run(kept)
      } catch (error) {
        // The target closed the kept connection at the very moment at which it was used again.
        const mayRepeat = this.#exchange!.isUnheard && !this.#request.body && SAFE.has(this.#request.method)
        if (!mayRepeat || this.#cancelled) throw error
      }
    }
    const connection = await this.#pool.open((socket) => {
      this.#opening = socket
    })
    this.#opening = undefined
    return this.#run(connection)
  }

  #run(connection: TargetConnection): Promise<DirectResponse> {
    this.#exchange = new TargetExchange(connection, this.#pool, this.#request)
    return this.#exchange.run()
  }
}

/** The answer of a site whose target does not answer. */
export function badGateway(): DirectResponse {
  return textResponse(502, BAD_GATEWAY)
}

function encodeRequest(request: DirectRequest, target: URL): OutgoingRequest {
  const { method, url, body } = request
  const fields = forwardedFields(request, target)
  let head = `${method} ${targetPath(target, url)} HTTP/1.1\r\n`
  let hasLength = false
  for (const [name, value] of fields) {
    head += `${name}: ${value}\r\n`
    if (name === 'content-length') hasLength = true
  }
  const isChunked = body !== undefined && !hasLength
  if (isChunked) head += 'transfer-encoding: chunked\r\n'
  else if (!hasLength && USUALLY_WITH_CONTENT.has(method)) head += 'content-length: 0\r\n'
  return { method, head: `${head}\r\n`, body, isChunked }
}
