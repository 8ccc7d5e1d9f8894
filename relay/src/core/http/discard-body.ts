// Reads the rest of a refused body: a client that is still sending when the connection closes does not see the
// response.

import type { IncomingMessage } from 'node:http'

/** Bytes of a refused body that the relay reads and drops before it responds. */
const DISCARDED_BODY_MAX_BYTES = 1024 * 1024
/**
 * The time for which it does so, in milliseconds: a body takes a round trip to arrive. The end of the response waits
 * for it, so that it is a tenth of the time for which a site's SDK keeps an HTTP/2 stream open after its response
 * (`DISCARDED_REQUEST_MS` there).
 */
export const DISCARDED_BODY_MS = 500

/** Reads and drops a bounded part of the body. @param forMs the longest time for it, in milliseconds */
export function discardBody(request: IncomingMessage, forMs: number = DISCARDED_BODY_MS): Promise<void> {
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
    const deadline = setTimeout(settle, forMs)
    if (request.readableEnded || request.destroyed) settle()
    else request.on('data', onData).on('end', settle).on('close', settle).resume()
  })
}
