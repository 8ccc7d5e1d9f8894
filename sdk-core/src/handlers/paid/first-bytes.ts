// Waits for the first bytes of a response: one whose content fails at once is not worth its price.

import { isResponse } from '../../platform-objects.ts'
import { withHeaders } from '../response-headers.ts'
import { FIRST_BYTES_MS } from './limits.ts'

/** The largest and the smallest status that a server may send as the last one; 101 is a WebSocket. */
const SENDABLE = { min: 200, max: 599 }
const SWITCHING_PROTOCOLS = 101

/**
 * Resolves with the response once its content began, ended, or took its time. At most one piece of it is in memory.
 * @throws the error with which the content failed; TypeError for a response that cannot be sent
 */
export async function begun(response: Response): Promise<Response> {
  if (!isResponse(response)) throw new TypeError('fetch has to return a Response')
  const { status, statusText, body } = response
  if (status === SWITCHING_PROTOCOLS) return response
  if (status < SENDABLE.min || status > SENDABLE.max) throw new TypeError('An error response cannot be sent')
  // a copy, since the handler may give the same response to others
  if (body === null) return withHeaders(new Response(null, { status, statusText }), headersOf(response))
  const reader = body.getReader() // throws for a body that somebody else reads
  const first = reader.read()
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, FIRST_BYTES_MS))])
  const rest = streamOf(first, reader)
  return withHeaders(new Response(rest, { status, statusText }), headersOf(response))
}

function streamOf(
  first: Promise<ReadableStreamReadResult<Uint8Array>>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  let next: typeof first | undefined = first
  return new ReadableStream(
    {
      async pull(controller) {
        const read = next ?? reader.read()
        next = undefined
        const { done, value } = await read
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The content of a response that `fetch` made was decoded, and its own fields about that do not fit. */
function headersOf(response: Response): Headers {
  const headers = new Headers(response.headers)
  if (response.type === 'default') return headers
  headers.delete('content-encoding')
  headers.delete('content-length')
  return headers
}
