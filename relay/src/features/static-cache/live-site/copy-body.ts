// Copies the body of a site's response to the visitor, at the visitor's pace.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LiveSlot } from './admission.ts'
import { endToEndTrailers, http2Fields, pairs } from './fields.ts'
import type { LiveDeadlines } from './limits.ts'
import type { VisitorRequest, VisitorResponse } from './live-sites.ts'

/** RFC 9110 §15.3.6: such a response has no content, and Node's HTTP/2 writes none. */
const RESET_CONTENT = 205

export interface Copying {
  request: VisitorRequest
  response: VisitorResponse
  deadlines: Pick<LiveDeadlines, 'stalledMs' | 'quietMs'>
  slot: Pick<LiveSlot, 'heard'>
}

/** Rejects when the body breaks off, or a side is silent for too long. */
export function copyBody(answer: IncomingMessage, copying: Copying): Promise<void> {
  const { request, response, deadlines, slot } = copying
  // HTTP/2 responses have the methods of HTTP/1.1 ones, too.
  const out = response as ServerResponse
  const hasContent = request.method !== 'HEAD' && answer.statusCode !== RESET_CONTENT
  return new Promise((resolve, reject) => {
    let stalled: NodeJS.Timeout | undefined
    const quiet = setTimeout(() => settle(false), deadlines.quietMs)
    const settle = (isWhole: boolean): void => {
      clearImmediate(flush)
      clearTimeout(stalled)
      clearTimeout(quiet)
      out.off('drain', onDrain)
      answer.off('data', onData)
      if (isWhole) resolve()
      else reject(new Error('the response broke off'))
    }
    /** A field that Node refuses to write breaks off one response, and never the relay. */
    const attempt = (write: () => void): void => {
      try {
        write()
      } catch {
        settle(false)
      }
    }
    // The head of a response does not wait long for its body.
    const flush = setImmediate(() => attempt(() => out.flushHeaders()))
    const onDrain = (): void => {
      clearTimeout(stalled)
      quiet.refresh()
      answer.resume()
    }
    const onData = (chunk: Buffer): void =>
      attempt(() => {
        slot.heard()
        quiet.refresh()
        if (!hasContent || out.write(chunk)) return
        answer.pause()
        clearTimeout(stalled)
        stalled = setTimeout(() => settle(false), deadlines.stalledMs)
      })
    out.on('drain', onDrain)
    answer.on('data', onData)
    answer.once('end', () =>
      attempt(() => {
        addTrailers(response, endToEndTrailers(answer.rawTrailers))
        settle(answer.complete)
      }),
    )
    answer.once('error', () => settle(false))
    answer.once('close', () => settle(answer.complete && answer.readableEnded))
  })
}

function addTrailers(response: VisitorResponse, trailers: readonly string[]): void {
  if (trailers.length === 0) return
  // Node's HTTP/2 takes lists as well, although its type says otherwise.
  if ('stream' in response) response.addTrailers(http2Fields(trailers) as Record<string, string>)
  else response.addTrailers([...pairs(trailers)])
}
