// Turns the response of a direct path into a Response, without its trailers, which no Response can hold.

import type { DirectResponse } from './direct.ts'
import type { BodyBatch } from './response-body.ts'

/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Makes a Response whose content is read on demand.
 * @param method the request's method
 */
export function toResponse(answer: DirectResponse, method: string): Response {
  const { status, statusText, fields, length } = answer
  const headers = new Headers(fields.map(([name, value]) => [name, value] as [string, string]))
  if (length !== undefined) headers.set('content-length', String(length))
  const isEmpty = WITHOUT_BODY.has(status) || method === 'HEAD'
  return new Response(isEmpty ? null : bodyOf(answer), { status, statusText, headers })
}

/** @returns null when the response has ended, and had no content */
function bodyOf(answer: DirectResponse): ReadableStream<Uint8Array> | null {
  const first = answer.ready()
  if (first.done && first.size === 0) return null
  let ready: BodyBatch | undefined = first.size > 0 ? first : undefined
  return new ReadableStream(
    {
      async pull(controller) {
        const { pieces, done } = ready ?? (await answer.next())
        ready = undefined
        for (const piece of pieces) controller.enqueue(piece)
        if (done) controller.close()
      },
      cancel: (reason) => answer.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
