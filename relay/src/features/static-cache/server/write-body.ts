// Writes bytes of a body to a visitor, and gives up when the visitor takes none of them for too long.

import type { ServerResponse } from 'node:http'
import { constants, type Http2ServerResponse } from 'node:http2'
import type { VisitorResponse } from '../live-site/live-sites.ts'
import { HTTP2_WRITE_BYTES, VISITOR_WRITE_DEADLINE_MS } from './limits.ts'

/** Resolves when Node no longer needs the bytes. @returns false when the visitor has left, or takes nothing */
export async function writeBody(response: VisitorResponse, bytes: Buffer): Promise<boolean> {
  if (!('stream' in response)) return await isTaken(response, bytes)
  // Node merges waiting writes into one, which completes only when the visitor has taken all of it.
  for (let at = 0; at < bytes.length; at += HTTP2_WRITE_BYTES)
    if (!(await isTakenInTime(response, bytes.subarray(at, at + HTTP2_WRITE_BYTES)))) return false
  return true
}

/**
 * Other streams of the connection may progress while the visitor no longer opens this stream's window, so a deadline of
 * the connection is not enough; and each frame of the connection restarts Node's timeout of a stream.
 */
async function isTakenInTime(response: Http2ServerResponse, bytes: Buffer): Promise<boolean> {
  const deadline = setTimeout(
    () => response.stream.close(constants.NGHTTP2_CANCEL),
    VISITOR_WRITE_DEADLINE_MS,
  )
  try {
    return await isTaken(response, bytes)
  } finally {
    clearTimeout(deadline)
  }
}

function isTaken(response: VisitorResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false)
    response.once('close', onClose)
    // Both kinds of response have this method.
    const http1 = response as ServerResponse
    http1.write(bytes, (error) => {
      response.off('close', onClose)
      resolve(!error)
    })
  })
}
