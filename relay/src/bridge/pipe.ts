// Joins two byte streams: what one sends the other gets, each direction ending by itself.

import type { Duplex } from 'node:stream'
import type { Bandwidth } from './bandwidth.ts'

/** Resolves when both are closed. A stream that breaks takes the other with it; one that ends only half-closes it. */
export async function pipe(a: Duplex, b: Duplex, bandwidth: Bandwidth): Promise<void> {
  copy(a, b, bandwidth)
  copy(b, a, bandwidth)
  await Promise.all([closed(a, b), closed(b, a)])
}

/** Reads on when the other side has taken what it got, and the rate allows more. */
function copy(from: Duplex, to: Duplex, bandwidth: Bandwidth): void {
  let delay: NodeJS.Timeout | undefined
  const resume = () => {
    if (delay === undefined && !to.writableNeedDrain) from.resume()
  }
  from.on('data', (chunk: Buffer) => {
    gather(to)
    const isTaken = to.write(chunk)
    const waitMs = bandwidth.spend(chunk.length)
    if (isTaken && waitMs === 0) return
    from.pause()
    if (waitMs === 0) return
    delay = setTimeout(() => {
      delay = undefined
      resume()
    }, waitMs)
  })
  from.on('end', () => to.end())
  from.on('close', () => clearTimeout(delay))
  to.on('drain', resume)
  from.resume()
}

/** What comes within one turn of the event loop, such as the records of one read, leaves in one write. */
function gather(to: Duplex): void {
  if (to.writableCorked > 0) return
  to.cork()
  setImmediate(() => to.uncork())
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
