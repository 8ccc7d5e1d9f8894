// Records the content of a handler's Response while it is read.

import { blobLengths } from '../exchange/fetch-request.ts'
import { withHeaders } from '../handlers/response-headers.ts'
import { isBytes } from '../platform-objects.ts'
import type { Recording } from './recording.ts'

/** RFC 9110 §15.2.2. */
const SWITCHING = 101
const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

/** Gives the response a body that the recording sees pass, whoever reads it and how. */
export function recordResponse(response: Response, recording: Recording): void {
  const { status, statusText, headers, body } = response
  recording.answered({ status, statusText, headers: [...headers] })
  // A WebSocket ends when it is closed.
  if (status === SWITCHING) return
  if (!body || response.bodyUsed) {
    recording.ended()
    return
  }
  const type = headers.get('content-type')
  const held = new Response(recordedStream(body, recording), {
    headers: type === null ? {} : { 'Content-Type': type },
  })
  const clone = (): Response => {
    const init = { status: response.status, statusText }
    return withHeaders(new Response(held.clone().body, init), new Headers(response.headers))
  }
  const properties: PropertyDescriptorMap = {
    body: { get: () => held.body, enumerable: true, configurable: true },
    bodyUsed: { get: () => held.bodyUsed, enumerable: true, configurable: true },
    clone: { value: clone, configurable: true },
  }
  for (const name of READERS) properties[name] = { value: () => held[name](), configurable: true }
  Object.defineProperties(response, properties)
}

function recordedStream(body: ReadableStream<Uint8Array>, recording: Recording): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const recorded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= body.getReader()
        try {
          const { done, value } = await reader.read()
          if (done) {
            recording.ended()
            controller.close()
          } else {
            if (isBytes(value)) recording.responded(value)
            controller.enqueue(value)
          }
        } catch (error) {
          recording.failed(error)
          throw error
        }
      },
      cancel(reason) {
        recording.failed(reason)
        return reader ? reader.cancel(reason) : body.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  const length = blobLengths.get(body)
  if (length !== undefined) blobLengths.set(recorded, length)
  return recorded
}
