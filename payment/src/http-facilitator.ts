// A remote facilitator, over x402's HTTP interface.

import type { Facilitator } from './facilitator.ts'
import { FACILITATOR_ANSWER_MS, MAX_FACILITATOR_ANSWER_BYTES } from './limits.ts'
import type {
  PaymentRequest,
  PreparedPayment,
  PrepareRequest,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from './messages.ts'
import { PaymentError } from './payment-error.ts'

/** HttpFacilitatorOptions are the options for a remote facilitator. */
export interface HttpFacilitatorOptions {
  /** @default the platform's */
  fetch?: typeof fetch | undefined
  /**
   * The deadline of one answer, in milliseconds.
   * @default 45_000
   */
  timeoutMs?: number | undefined
}

/**
 * Returns the facilitator at a URL, such as `https://relay.example/api/x402`. Its methods reject with a PaymentError when it
 * does not answer; a payment that it refuses is an answer.
 * @throws PaymentError `invalid_settings` for a text that is not an http or https URL
 */
export function facilitatorAt(url: string | URL, options: HttpFacilitatorOptions = {}): Facilitator {
  return new HttpFacilitator(url, options)
}

class HttpFacilitator implements Facilitator {
  /** Ends with a slash. */
  readonly #base: string
  readonly #fetch: typeof fetch
  readonly #timeoutMs: number

  constructor(
    url: string | URL,
    { fetch = globalThis.fetch.bind(globalThis), timeoutMs }: HttpFacilitatorOptions,
  ) {
    const parsed = URL.parse(String(url))
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      throw new PaymentError('invalid_settings', `${url} is no URL of a facilitator`)
    this.#base = parsed.href.endsWith('/') ? parsed.href : `${parsed.href}/`
    this.#fetch = fetch
    this.#timeoutMs = timeoutMs ?? FACILITATOR_ANSWER_MS
  }

  async supported(): Promise<SupportedResponse> {
    const { status, body } = await this.#ask('supported', undefined)
    if (Array.isArray(body?.kinds)) return body as unknown as SupportedResponse
    throw failed('supported', status)
  }

  async verify(request: PaymentRequest): Promise<VerifyResponse> {
    const { status, body } = await this.#ask('verify', request)
    // A node that does not answer is no word about the payment.
    if (status < 500 && typeof body?.isValid === 'boolean') return body as unknown as VerifyResponse
    throw failed('verify', status, body?.invalidMessage)
  }

  async settle(request: PaymentRequest): Promise<SettleResponse> {
    const { status, body } = await this.#ask('settle', request)
    if (status < 500 && typeof body?.success === 'boolean') return body as unknown as SettleResponse
    throw failed('settle', status, body?.errorMessage)
  }

  async prepare(request: PrepareRequest): Promise<PreparedPayment> {
    const { status, body } = await this.#ask('prepare', request)
    if (isPrepared(body)) return body
    if (status === 404 || status === 405)
      throw new PaymentError('prepare_unsupported', `the facilitator at ${this.#base} prepares no payments`)
    if (status === 400 && typeof body?.errorReason === 'string')
      throw new PaymentError('invalid_request', String(body.errorMessage ?? body.errorReason), {
        reason: body.errorReason,
      })
    throw failed('prepare', status, body?.errorMessage)
  }

  async #ask(
    path: string,
    request: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> | undefined }> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    try {
      const response = await this.#fetch(`${this.#base}${path}`, {
        ...(request === undefined
          ? {}
          : {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify(request),
            }),
        redirect: 'error',
        credentials: 'omit',
        signal,
      })
      return { status: response.status, body: parse(await readText(response)) }
    } catch (cause) {
      const why = signal.aborted ? 'does not answer in time' : 'cannot be reached'
      throw new PaymentError('facilitator_unavailable', `the facilitator at ${this.#base} ${why}`, { cause })
    }
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > MAX_FACILITATOR_ANSWER_BYTES) throw new Error('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function isPrepared(body: unknown): body is PreparedPayment {
  const { paymentTransaction, prepareTransaction } = (body ?? {}) as Partial<PreparedPayment>
  return (
    typeof paymentTransaction?.transaction === 'string' &&
    (prepareTransaction === undefined || typeof prepareTransaction.transaction === 'string')
  )
}

function failed(path: string, status: number, message?: unknown): PaymentError {
  const said = typeof message === 'string' ? `: ${message}` : ''
  return new PaymentError(
    'facilitator_failed',
    `the facilitator answers ${path} with status ${status}${said}`,
  )
}
