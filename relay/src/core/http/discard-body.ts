// The rest of a refused body: a client that is still sending when the connection closes does not get to see the answer.

import type { IncomingMessage } from 'node:http'
import { DISCARDED_BODY_MAX_BYTES, DISCARDED_BODY_MS } from '../limits.ts'

/** Reads and drops what is on its way, in bounds. */
export function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = DISCARDED_BODY_MAX_BYTES
    const settle = () => {
      clearTimeout(deadline)
      request.off('data', onData).off('end', settle).off('close', settle)
      request.pause()
      resolve()
    }
    const onData = ({ length }: Buffer) => {
      left -= length
      if (left < 0) settle()
    }
    const deadline = setTimeout(settle, DISCARDED_BODY_MS)
    if (request.readableEnded || request.destroyed) settle()
    else request.on('data', onData).on('end', settle).on('close', settle).resume()
  })
}
