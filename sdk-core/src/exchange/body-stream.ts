// Reads a content of the direct way through a stream.

import type { DirectBody } from './direct.ts'

/**
 * Returns a stream that queues nothing, so that each pull is a read of the content.
 * @param cancel called when the reader wants no more. @default nothing
 */
export function bodyStream(
  body: Pick<DirectBody, 'next'>,
  cancel?: (reason: unknown) => Promise<void>,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const bytes = await body.next()
        if (bytes) controller.enqueue(bytes)
        else controller.close()
      },
      ...(cancel && { cancel }),
    },
    { highWaterMark: 0 },
  )
}
