// A stream whose first bytes can be peeked.

import type { ByteStream } from '@svc/sdk-core'

/** @returns the first bytes within `ms` milliseconds, and the complete stream */
export async function peekableStream(
  stream: ByteStream,
  ms: number,
): Promise<{ first: Uint8Array | undefined; rest: ByteStream }> {
  let reading: Promise<Uint8Array | undefined> | undefined = stream.read()
  reading.catch(() => {}) // The next reader gets the error.
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  const first = await Promise.race([reading.catch(() => undefined), late])
  clearTimeout(timer)
  const read = (): Promise<Uint8Array | undefined> => {
    const pending = reading ?? stream.read()
    reading = undefined
    return pending
  }
  return {
    first,
    rest: {
      read,
      write: (bytes) => stream.write(bytes),
      end: () => stream.end(),
      abort: (reason) => stream.abort(reason),
    },
  }
}
