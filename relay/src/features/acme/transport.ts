// Sends the requests of the ACME client: bounded in time and size, with the operator's roots and with retries.

import { setTimeout as pause } from 'node:timers/promises'
import { retryAfterOf } from '@svc/node-kit/http'
import { acmeProblemDetail } from '@svc/protocol/acme'
import { HttpClient, type HttpRequest, type HttpResponse } from '../../core/outbound/http-client.ts'
import { OutboundError } from '../../core/outbound/outbound-error.ts'
import { RELEASE_VERSION } from '../../core/version.ts'
import { AcmeError } from './authority.ts'
import {
  ANSWER_MAX_BYTES,
  REQUEST_DEADLINE_MS,
  REQUEST_RETRY_AFTER_MAX_MS,
  REQUEST_RETRY_MS,
} from './limits.ts'

const OK = 200
/** Authorities refuse requests without it (RFC 8555 §6.1). */
const USER_AGENT = `svc-relay/${RELEASE_VERSION}`
const SERVER_ERROR = 500
/** Error codes of OpenSSL and Node for a certificate that leads to no trusted root, or is for another server. */
const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS_CERT)/

export class AcmeTransport {
  readonly #directory: URL
  readonly #client: HttpClient

  /** @param ca roots as PEM; undefined: Node's */
  constructor(directory: string, ca: string | undefined) {
    this.#directory = new URL(directory)
    this.#client = new HttpClient({
      configuredOrigins: [this.#directory.origin],
      ...(ca !== undefined && { ca }),
    })
  }

  /** @returns an answer of any status. @throws AcmeError `unreachable`, or the signal's reason */
  async send(url: string, request: HttpRequest): Promise<HttpResponse> {
    for (const delayMs of REQUEST_RETRY_MS) {
      const response = await this.#once(url, request).catch((error: OutboundError) => error)
      let waitMs = delayMs
      if (response instanceof OutboundError) {
        if (!isPassing(response)) break
      } else {
        waitMs = Math.max(delayMs, retryAfterOf(response.headers) ?? 0)
        if (response.status < SERVER_ERROR || waitMs > REQUEST_RETRY_AFTER_MAX_MS) return response
      }
      await pause(waitMs, undefined, { ...(request.signal && { signal: request.signal }) })
    }
    return await this.#once(url, request).catch((error: OutboundError) => {
      request.signal?.throwIfAborted()
      throw new AcmeError('unreachable', this.#explain(error), { cause: error })
    })
  }

  /**
   * @returns the fields of the JSON object at `url`
   * @throws AcmeError `refused` or `unusable` with what the authority answered instead, and as {@link send} does
   */
  async getJson(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { status, body } = await this.send(url, { signal })
    const answer = parse(body)
    if (status === OK && typeof answer === 'object' && answer !== null)
      return answer as Record<string, unknown>
    const { host, pathname } = new URL(url)
    const what = status === OK ? 'what is no JSON object' : `status ${status}`
    const detail = acmeProblemDetail(answer)
    throw new AcmeError(
      status === OK ? 'unusable' : 'refused',
      `${host} answers ${pathname} with ${what}${detail && `: ${detail}`}`,
    )
  }

  #once(url: string, request: HttpRequest): Promise<HttpResponse> {
    const bounds = { deadlineMs: REQUEST_DEADLINE_MS, maxBytes: ANSWER_MAX_BYTES }
    const headers = { 'User-Agent': USER_AGENT, ...request.headers }
    return this.#client.request(url, { ...bounds, ...request, headers, isConfigured: true })
  }

  #explain(error: OutboundError): string {
    const where = this.#directory.host
    const { code } = Object(error.cause)
    if (typeof code === 'string' && UNTRUSTED.test(code))
      return `the ACME authority at ${where} has a certificate that is not trusted (${error.message}): ACME_CA names a file with its roots`
    return `the ACME authority at ${where} cannot be reached: ${error.message}`
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** Whether a retry may help: a network failure may pass, an untrusted certificate does not. */
function isPassing({ code, cause }: OutboundError): boolean {
  return code === 'connection_failed' && !UNTRUSTED.test(`${Object(cause).code}`)
}
