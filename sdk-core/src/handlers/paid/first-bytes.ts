// Waits for the first bytes of a response, so that nobody pays for one that fails at once.

import { isResponse } from '../../platform-objects.ts'
import { withHeaders } from '../response-headers.ts'
import { FIRST_BYTES_MS } from './limits.ts'

/** The range of final statuses that a server may send; 101 is a WebSocket. */
const SENDABLE = { min: 200, max: 599 }
const SWITCHING_PROTOCOLS = 101

/**
 * Resolves with the response once its content began or ended, or after {@link FIRST_BYTES_MS}. At most one chunk is in memory.
 * @throws the error with which the content failed; TypeError for a response that cannot be sent
 */
export async function begun(response: Response): Promise<Response> {
  if (!isResponse(response)) throw new TypeError('fetch must return a Response')
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

/** Removes the fields that no longer fit a response of `fetch`, whose content is decoded. */
function headersOf(response: Response): Headers {
  const headers = new Headers(response.headers)
  if (response.type === 'default') return headers
  headers.delete('content-encoding')
  headers.delete('content-length')
  return headers
}
