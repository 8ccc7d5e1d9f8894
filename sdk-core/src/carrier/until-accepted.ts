// Waits until the relay accepted the first session of a carrier of any kind.

import { abortError, type SvcError } from '../errors.ts'

interface OnlineCarrier {
  /** Resolves once the relay accepted the first session. Rejects with the reason when it will not. */
  readonly online: Promise<void>
  fail(reason: SvcError): void
}

/**
 * Resolves with the carrier once the relay accepted its first session, so that visitors can come.
 * @param signal aborts the carrier until then
 * @throws SvcError the reason for which there is no carrier
 */
export async function untilAccepted<C extends OnlineCarrier>(carrier: C, signal: AbortSignal): Promise<C> {
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
