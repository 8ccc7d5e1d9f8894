// The signal of a visitor who can no longer get a response.

import { losses } from './disconnect-signal.ts'

/**
 * Returns a signal for a handler that forwards the request to another server: it aborts when the visitor can no longer get a
 * response. `request.signal` also aborts when a visitor half-closes, who may still wait for the response.
 */
export function lossSignal(request: Request): AbortSignal {
  const loss = losses.get(request)
  if (!loss) return request.signal
  const controller = new AbortController()
  loss.catch((error) => controller.abort(error))
  return controller.signal
}
