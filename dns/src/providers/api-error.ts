// The error of one request to a provider's API: what went wrong, for the operator, and whether to try again.

import { MESSAGE_MAX_CHARS } from './limits.ts'
import { DnsProviderError, type DnsProviderFault } from './provider-error.ts'

interface ApiErrorOptions extends ErrorOptions {
  /** HTTP status of the answer. */
  status?: number
  /** Whether the same change may succeed after reading the records again. */
  isRetryable?: boolean
  retryAfterMs?: number
}

export class ApiError extends DnsProviderError {
  readonly status: number | undefined
  readonly isRetryable: boolean

  constructor(fault: DnsProviderFault, message: string, options: ApiErrorOptions = {}) {
    super(fault, message, options)
    this.status = options.status
    this.isRetryable = options.isRetryable ?? false
  }
}

/** Swallows an error that says that the requested object does not exist. @throws any other error */
export function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}

/** One line of a text from outside, without control characters and without these secrets. */
export function oneLine(text: string, secrets: readonly string[]): string {
  let line = text
  for (const secret of secrets) if (secret !== '') line = line.replaceAll(secret, '…')
  line = line.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').trim()
  return line.length > MESSAGE_MAX_CHARS ? `${line.slice(0, MESSAGE_MAX_CHARS)}…` : line
}
