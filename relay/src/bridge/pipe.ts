// Joins two byte streams: what one sends the other gets, each direction ending by itself.

import type { Duplex } from 'node:stream'

/** Resolves when both are closed. A stream that breaks takes the other with it; one that ends only half-closes it. */
export async function pipe(a: Duplex, b: Duplex): Promise<void> {
  a.pipe(b)
  b.pipe(a)
  await Promise.all([closed(a, b), closed(b, a)])
}

function closed(stream: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      const orderly = stream.readableEnded && stream.writableFinished
      if (!orderly) other.destroy()
      resolve()
    }
    stream.on('error', () => {})
    if (stream.closed) done()
    else stream.once('close', done)
  })
}
