// WHATWG streams over a stream's read and write. They queue nothing: back-pressure comes from the windows.

import type { Stream } from './stream.ts'

/** Returns the incoming bytes as a WHATWG stream. Cancelling it aborts the stream: yamux cannot refuse one direction. */
export function readableOf(stream: Stream): ReadableStream<Uint8Array> {
  // A byte stream would detach the buffer of every chunk, which other streams' bytes may share.
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await stream.read()
        if (bytes === undefined) controller.close()
        else controller.enqueue(bytes)
      },
      cancel: (reason) => stream.abort(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Returns the outgoing bytes as a WHATWG stream. Closing it ends the stream, and aborting it aborts the stream. */
export function writableOf(stream: Stream): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    start(controller) {
      // A pipe whose source is idle learns of a reset only here.
      void stream.closed.then(() => {
        if (stream.error !== undefined) controller.error(stream.error)
      })
    },
    write: (bytes) => stream.write(bytes),
    close: () => stream.end(),
    abort: (reason) => stream.abort(reason),
  })
}
