// What every carrier is waited for in, however it reaches the relay.

import { abortError, type SvcError } from '../errors.ts'

interface OnlineCarrier {
  /** Resolves once the relay accepted the first session; rejects with why it will not. */
  readonly online: Promise<void>
  fail(reason: SvcError): void
}

/**
 * Resolves once the relay accepted the carrier's first session, so that visitors can come.
 * @param signal fails the carrier, if it comes before that
 * @throws SvcError why there is no carrier
 */
export async function untilOnline<C extends OnlineCarrier>(carrier: C, signal: AbortSignal): Promise<C> {
  const abort = (): void => carrier.fail(abortError(signal))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await carrier.online
    return carrier
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
