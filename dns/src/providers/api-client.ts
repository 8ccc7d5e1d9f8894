// Sends requests to a provider's API: one at a time, no faster than the provider allows, with uniform errors.

import { setTimeout as sleep } from 'node:timers/promises'
import { retryAfterOf } from '@svc/node-kit/http'
import { ApiError, oneLine } from './api-error.ts'
import type { DnsProviderFault } from './provider-error.ts'
import type { ApiAnswer, ApiConnection, ApiMethod } from './zone-api.ts'

/** A request to the API. */
export interface ApiRequest {
  method?: ApiMethod
  /** Path below the base URL, with its query. */
  path: string
  body?: string
  /** The permission that this request needs, for the error when the credentials lack it. */
  needs: string
  signal: AbortSignal
}

/** What a provider's body says about a refused request. */
export interface Refusal {
  message?: string
  /** Overrides the fault that the status implies. */
  fault?: DnsProviderFault
  /** Overrides the status: whether somebody else changed the records concurrently. */
  isRetryable?: boolean
}

/** Statuses that mean a concurrent change by somebody else. */
const RACES = new Set([409, 412])

export interface ApiClientOptions extends ApiConnection {
  /** The provider's name, for operators. */
  provider: string
  /** The API's public base URL, without a slash at its end. */
  publicUrl: string
  /** Shortest time between two requests, in milliseconds, from the provider's published rate. */
  spacingMs: number
  /** Media type of bodies. @default 'application/json' */
  mediaType?: string
  /** What the credentials are and where they come from, for errors. */
  credential: string
  /** Values that no error may contain. */
  secrets: readonly string[]
  /** Header fields with the credentials, for this request to this URL. @throws ApiError */
  authorize(request: ApiRequest, url: string): Promise<Record<string, string>>
  /** Reads the body of a refused request. May throw: then only the status counts. */
  refusal(body: string): Refusal
}

export class ApiClient {
  readonly #options: ApiClientOptions
  readonly #baseUrl: string
  readonly #spacingMs: number
  /** When the next request may begin, by the monotonic clock. */
  #nextAt = 0

  constructor(options: ApiClientOptions) {
    this.#options = options
    this.#baseUrl = options.baseUrl ?? options.publicUrl
    this.#spacingMs = options.pauseMs ?? options.spacingMs
  }

  /** @returns the body of a successful answer @throws ApiError */
  async request(request: ApiRequest): Promise<string> {
    const url = this.#baseUrl + request.path
    await this.#turn(request.signal)
    const authorization = await this.#options.authorize(request, url)
    const response = await this.#send(url, request, authorization)
    const { body } = response
    if (response.status >= 200 && response.status < 300) return body
    let refusal: Refusal = {}
    try {
      refusal = this.#options.refusal(body)
    } catch {
      // A proxy before the API may have sent the answer.
    }
    throw this.refused(response.status, refusal, request, response.headers)
  }

  /** The error of a refused request. @param headers of the answer @default none */
  refused(
    status: number,
    { message, fault = faultOf(status), isRetryable = RACES.has(status) }: Refusal,
    { needs }: ApiRequest,
    headers: ApiAnswer['headers'] = {},
  ): ApiError {
    const { provider, credential, secrets } = this.#options
    const said = oneLine(message || `status ${status}`, secrets)
    const retryAfterMs = retryAfterOf(headers)
    const explained = {
      unauthorized: `${provider} refuses ${credential}: ${said}; it needs ${needs}`,
      rate_limited: `${provider} takes no more requests for now: ${said}`,
      unavailable: `${provider} has an error: ${said}`,
    }
    return new ApiError(
      fault,
      explained[fault as keyof typeof explained] ?? `${provider} refuses this: ${said}`,
      {
        status,
        isRetryable: isRetryable || fault === 'rate_limited' || fault === 'unavailable',
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    )
  }

  /** A request whose answer is JSON, as `parse` reads it. @throws ApiError */
  async json<T>(request: ApiRequest, schema: { parse(value: unknown): T }): Promise<T> {
    return this.read(await this.request(request), (body) => schema.parse(JSON.parse(body)))
  }

  /** Reads a body. @throws ApiError when it is not what the API's reference says */
  read<T>(body: string, parse: (body: string) => T): T {
    try {
      return parse(body)
    } catch (cause) {
      const message = `${this.#options.provider} gave an answer that cannot be understood`
      throw new ApiError('unavailable', message, { cause, isRetryable: true })
    }
  }

  async #send(url: string, request: ApiRequest, authorization: Record<string, string>): Promise<ApiAnswer> {
    const { method = 'GET', body, signal } = request
    const { provider, deadlineMs, http, mediaType = 'application/json' } = this.#options
    const content = body === undefined ? {} : { 'content-type': mediaType }
    try {
      return await http(url, {
        method,
        headers: { accept: mediaType, ...content, ...authorization },
        signal,
        ...(body === undefined ? {} : { body }),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
      })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'the request failed'
      const message = `${provider} cannot be asked: ${oneLine(why, this.#options.secrets)}`
      throw new ApiError('unavailable', message, { cause, isRetryable: !signal.aborted })
    }
  }

  /** Waits until the next request may begin. */
  async #turn(signal: AbortSignal): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, this.#nextAt)
    this.#nextAt = at + this.#spacingMs
    if (at > now) await sleep(at - now, undefined, { signal }).catch(() => {})
  }
}

function faultOf(status: number): DnsProviderFault {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404) return 'wrong_zone'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'unavailable' : 'conflict'
}
