// The HTTP client of one relay's control plane: limited in time and size, with failures mapped to coded errors.

import { abortError, isRelayCode, SvcError } from '../errors.ts'
import { isRecord } from './json-checks.ts'
import { CONTROL_DEADLINE_MS, RESPONSE_MAX_BYTES, RETRY_AFTER_MAX_MS } from './limits.ts'
import { RelayClock } from './relay-clock.ts'

/** The part of the global `fetch` that the SDK uses. */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>

/** The options of a request as the SDK gives them. */
export interface FetchInit extends RequestInit {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers: Record<string, string>
  /** A form is sent as `multipart/form-data`, part by part, so that only one file has to be in memory. */
  body?: string | FormData
  signal: AbortSignal
}

/** The part of a `Response` that the SDK reads. */
export interface FetchResponse extends Pick<Response, 'status' | 'ok' | 'body'> {
  headers: Pick<Headers, 'get'>
}

interface CallOptions {
  /** The body, sent as JSON with POST. */
  body?: object | undefined
  /** The body, sent as multipart/form-data. */
  form?: FormData | undefined
  /** @default POST with {@link body}, GET without it */
  method?: FetchInit['method'] | undefined
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
  deadlineMs?: number | undefined
  /** The largest size of the answer, in bytes. */
  maxBytes?: number | undefined
  /** Lets the request outlive the page. */
  keepalive?: boolean | undefined
}

export interface RelayResponse {
  status: number
  ok: boolean
  text: string
  retryAfterMs: number | undefined
}

/** RelayClient sends requests to the relay's control plane. */
export class RelayClient {
  /** The relay's origin, `https://host[:port]`. */
  readonly origin: string
  /** The host, with its port when that is not 443: the domain of SIWE messages. */
  readonly host: string
  readonly hostname: string
  /** The port as `:port`; empty for 443. */
  readonly portSuffix: string
  readonly clock: RelayClock = new RelayClock()
  #fetch: FetchFunction

  constructor(relay: URL, fetch: FetchFunction) {
    this.origin = relay.origin
    this.host = relay.host
    this.hostname = relay.hostname
    this.portSuffix = relay.port === '' ? '' : `:${relay.port}`
    this.#fetch = fetch
  }

  /**
   * Resolves with the `data` of an enveloped answer, whose shape is unchecked.
   * @throws SvcError
   */
  async call(path: string, options: CallOptions = {}): Promise<unknown> {
    return openEnvelope(path, await this.request(path, options))
  }

  /**
   * Resolves with any answer, whatever its status.
   * @throws SvcError when there is none
   */
  async request(path: string, options: CallOptions = {}): Promise<RelayResponse> {
    const { signal } = options
    const deadline = AbortSignal.timeout(options.deadlineMs ?? CONTROL_DEADLINE_MS)
    try {
      const response = await this.#fetch(this.origin + path, {
        method: options.method ?? (options.body ? 'POST' : 'GET'),
        ...(options.body && { body: JSON.stringify(options.body) }),
        ...(options.form && { body: options.form }),
        headers: { ...(options.body && { 'Content-Type': 'application/json' }), ...options.headers },
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        keepalive: options.keepalive ?? false,
        // These requests carry tokens, so they send no cookies and no referrer, follow no redirect and use no cache.
        credentials: 'omit',
        redirect: 'error',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
      })
      this.clock.dated(response.headers.get('Date'))
      return {
        status: response.status,
        ok: response.ok,
        text: await readText(response, options.maxBytes ?? RESPONSE_MAX_BYTES),
        retryAfterMs: parseRetryAfter(response.headers.get('Retry-After')),
      }
    } catch (cause) {
      if (signal?.aborted) throw abortError(signal)
      if (cause instanceof SvcError) throw cause
      throw new SvcError('relay_unreachable', `no answer from ${this.origin}${path}`, { cause })
    }
  }
}

/**
 * Returns the data of an enveloped success.
 * @throws SvcError with the relay's own code, or `unexpected_answer`
 */
function openEnvelope(path: string, answer: RelayResponse): unknown {
  const envelope = parseJson(answer.text)
  if (answer.ok && isRecord(envelope) && envelope.ok === true) return envelope.data
  throw failureOf(path, answer)
}

/** Returns the error for any answer but an enveloped success. */
export function failureOf(path: string, answer: RelayResponse): SvcError {
  const envelope = parseJson(answer.text)
  const error = isRecord(envelope) && envelope.ok === false ? envelope.error : undefined
  if (!isRecord(error)) return notOfTheProtocol(path, answer)
  const detail = typeof error.message === 'string' ? error.message : 'no message'
  const { retryAfterMs } = answer
  if (isRelayCode(error.code)) return new SvcError(error.code, detail, { retryAfterMs })
  return new SvcError('unexpected_answer', `${path}: unknown error code: ${detail}`, { retryAfterMs })
}

const CONTENT_TOO_LARGE = 413

/**
 * The error for an answer of a reverse proxy in front of the relay: the body is too large for it, or 502 to 504
 * when it cannot reach the relay.
 */
function notOfTheProtocol(path: string, { status, retryAfterMs }: RelayResponse): SvcError {
  const isGone = status >= 502 && status <= 504
  const code = isGone
    ? 'relay_unreachable'
    : status === CONTENT_TOO_LARGE
      ? 'invalid_request'
      : 'unexpected_answer'
  return new SvcError(code, `${path} answered ${status} without the protocol's envelope`, { retryAfterMs })
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns milliseconds. Reads only the form in seconds (RFC 9110 §10.2.3): a date needs a clock that both sides
 * share.
 */
export function parseRetryAfter(value: string | null): number | undefined {
  return value !== null && /^\d{1,6}$/.test(value)
    ? Math.min(Number(value) * 1000, RETRY_AFTER_MAX_MS)
    : undefined
}

/**
 * Reads the body as UTF-8 text.
 * @throws SvcError `unexpected_answer` when it has more than `maxBytes`, or is not UTF-8
 */
async function readText(response: Pick<Response, 'body'>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = response.body?.getReader()
  let text = ''
  for (let total = 0; reader !== undefined; ) {
    const { done, value } = await reader.read()
    if (done) break
    total += value.length
    if (total > maxBytes) {
      // The rest is not needed, and a failure to cancel does not matter.
      reader.cancel().catch(() => {})
      throw new SvcError('unexpected_answer', `the relay's answer is longer than ${maxBytes} bytes`)
    }
    text += decode(decoder, value)
  }
  return text + decode(decoder)
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch (cause) {
    throw new SvcError('unexpected_answer', "the relay's answer is not UTF-8", { cause })
  }
}
