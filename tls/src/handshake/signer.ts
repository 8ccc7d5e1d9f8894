// Requests the signature over a handshake: limited in time and number, and aborted when the client leaves.

import type { Signer, SignRequest } from '../config.ts'
import { TlsError } from '../errors.ts'
import { type Limits, SIGNATURES_IN_FLIGHT_MAX, SIGNATURES_WAITING_MAX } from '../limits.ts'
import { ALERT } from '../messages/constants.ts'

/**
 * Resolves with the signature.
 * @throws TlsError `signer_timeout` or `signer_failed`, both an internal_error to the client, or the reason of
 *   `leaving`
 */
export async function requestSignature(
  sign: (signal: AbortSignal) => ReturnType<Signer>,
  { signTimeoutMs }: Limits,
  leaving: AbortSignal,
): Promise<Uint8Array> {
  leaving.throwIfAborted()
  // AbortSignal.timeout and AbortSignal.any would cost more.
  const given = new AbortController()
  const { signal } = given
  const leave = () => given.abort(leaving.reason)
  const timedOut = () => given.abort(failure('signer_timeout', `no signature in ${signTimeoutMs} ms`))
  leaving.addEventListener('abort', leave)
  const timer = setTimeout(timedOut, signTimeoutMs)
  try {
    const signature = await untilAborted(signal, () => sign(signal))
    if (signature.length > 0) return signature
  } catch (cause) {
    throw signal.aborted ? signal.reason : failure('signer_failed', 'the signer failed', cause)
  } finally {
    clearTimeout(timer)
    leaving.removeEventListener('abort', leave)
  }
  throw failure('signer_failed', 'the signer gave an empty signature')
}

/** Rejects when the signal aborts, even if the work ignores it. */
async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T> | T): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function failure(code: string, message: string, cause?: unknown): TlsError {
  return new TlsError(code, message, { alert: ALERT.internal_error, cause })
}

/**
 * Returns a signer that all connections of a site share. It runs at most `inFlight` signatures at a time, with
 * `waiting` more in a queue, so that a flood of handshakes does not overload the real signer. `R` is the request type of a
 * signer that needs more than the engine's.
 */
export function boundedSigner<R = SignRequest>(
  sign: (request: R, signal: AbortSignal) => ReturnType<Signer>,
  {
    inFlight = SIGNATURES_IN_FLIGHT_MAX,
    waiting = SIGNATURES_WAITING_MAX,
  }: { inFlight?: number; waiting?: number } = {},
): (request: R, signal: AbortSignal) => Promise<Uint8Array> {
  let running = 0
  const queue: (() => void)[] = []
  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        queue.splice(queue.indexOf(start), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      queue.push(start)
    })
  return async (request, signal) => {
    if (running < inFlight) running++
    else if (queue.length < waiting) await turn(signal)
    else throw new TlsError('signer_busy', `${waiting} handshakes wait for a signature already`)
    try {
      return await sign(request, signal)
    } finally {
      // The next signature takes this one's slot, so `running` is unchanged.
      const next = queue.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
