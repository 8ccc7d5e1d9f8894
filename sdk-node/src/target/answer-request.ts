// Answers a Request by a handler's direct path, for callers that have a Request, such as a wrapper around a target.

import {
  type DirectHandler,
  type DirectResponse,
  type KnownVisitor,
  lossSignal,
  sentListeners,
} from '@svc/sdk-core'

/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

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

/** Makes a Response whose content is read on demand. */
export function toResponse(answer: DirectResponse, method: string): Response {
  const { status, statusText, fields, length } = answer
  const headers = new Headers(fields.map(([name, value]) => [name, value] as [string, string]))
  if (length !== undefined) headers.set('content-length', String(length))
  const isEmpty = WITHOUT_BODY.has(status) || method === 'HEAD'
  return new Response(isEmpty ? null : streamOf(answer), { status, statusText, headers })
}

function streamOf(answer: DirectResponse): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { pieces, done } = await answer.next()
        for (const piece of pieces) controller.enqueue(piece)
        if (done) controller.close()
      },
      cancel: (reason) => answer.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
