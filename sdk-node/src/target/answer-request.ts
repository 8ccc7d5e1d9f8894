// Answers a Request by a handler's direct path, for callers that have a Request, such as a wrapper around a target.

import { type DirectHandler, type KnownVisitor, lossSignal, sentListeners, toResponse } from '@svc/sdk-core'

/** @throws the error of an exchange that failed or was cancelled because the visitor's connection broke */
export async function answerRequest(
  request: Request,
  direct: DirectHandler,
  info: KnownVisitor,
): Promise<Response> {
  const { remote, clientCertificate } = info
  const { method, headers } = request
  const signal = lossSignal(request)
  const reader = request.body?.getReader()
  const body = reader && { next: async () => (await reader.read()).value }
  const visitor = { remote, clientCertificate, onSent: sentListeners.get(info) }
  const exchange = direct({ method, url: new URL(request.url), fields: [...headers], ...visitor, body })!
  const cancel = (): void => exchange.cancel(signal.reason)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  return toResponse(await exchange.respond(), method)
}
