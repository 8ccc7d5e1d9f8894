// A stream whose first bytes can be read without taking them.

import type { ByteStream } from '@svc/sdk-core'

/** @returns the bytes that came first within `ms` milliseconds, and the stream with nothing taken from it */
export async function peekableStream(
  stream: ByteStream,
  ms: number,
): Promise<{ first: Uint8Array | undefined; rest: ByteStream }> {
  let reading: Promise<Uint8Array | undefined> | undefined = stream.read()
  reading.catch(() => {}) // the next reader gets the error
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
