// Calls the relay's API: opens the envelope and throws errors as ApiError. The browser caches and revalidates responses
// as the relay allows.
import type { Envelope } from '@svc/protocol'

/** A call fails after this long. */
const DEADLINE_MS = 10_000
const UNAUTHORIZED = 401

export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** Error code of the envelope, or `unreachable` without a response of the relay. */
  readonly code: string
  readonly status: number

  constructor(code: string, message: string, status = 0, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = status
  }

  get isUnauthorized(): boolean {
    return this.status === UNAUTHORIZED
  }
}

export interface Call {
  /** Body in JSON; a call with a body is a POST. */
  body?: unknown
  /** Admin token, sent as a bearer. */
  token?: string
  /** Ends the call early. */
  signal?: AbortSignal
}

/** @throws ApiError */
export async function callApi<T>(path: string, { body, token, signal }: Call = {}): Promise<T> {
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  let status = 0
  try {
    const response = await fetch(path, {
      ...init,
      headers,
      credentials: 'omit',
      signal: AbortSignal.any([AbortSignal.timeout(DEADLINE_MS), ...(signal ? [signal] : [])]),
    })
    status = response.status
    const envelope = (await response.json()) as Envelope<T>
    if (envelope.ok) return envelope.data
    throw new ApiError(envelope.error.code, envelope.error.message, status)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('unreachable', 'the relay does not answer', status, { cause: error })
  }
}
