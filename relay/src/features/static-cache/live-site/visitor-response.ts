// Ends and answers requests of visitors, over HTTP/1.1 and HTTP/2 alike.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants } from 'node:http2'
import { discardBody } from '../../../core/http/discard-body.ts'
import { errorPage, isShown } from '../../../core/http/error-page.ts'
import type { VisitorRequest, VisitorResponse } from './live-sites.ts'

interface Answering {
  request: VisitorRequest
  response: VisitorResponse
}

/** Returns whether the visitor can receive no more bytes. */
export function hasLeft(response: VisitorResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed || response.writableFinished
}

/** Breaks a response off, so that the visitor notices. */
export function abortResponse(response: VisitorResponse): void {
  if ('stream' in response) response.stream?.close(constants.NGHTTP2_INTERNAL_ERROR)
  else response.destroy()
}

/** Removes what a failed attempt to write a head left behind. */
export function clearHead(response: VisitorResponse): void {
  if (response.headersSent) return
  // Both kinds of response have these.
  const out = response as ServerResponse
  for (const name of out.getHeaderNames()) out.removeHeader(name)
  out.statusCode = 500
  if (!('stream' in response)) out.statusMessage = ''
}

/**
 * Reads and drops the rest of an unneeded body, within limits: a client that still sends would not read the response.
 */
export async function stopReading(request: VisitorRequest, forMs?: number): Promise<void> {
  // Both kinds of request are streams of bytes.
  if (!request.complete) await discardBody(request as IncomingMessage, forMs)
}

/** Answers with one line of text, or with a page for people in a browser. Resolves when the visitor has it, or has left. */
export async function sendText(
  exchange: Answering,
  status: number,
  text: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { request, response } = exchange
  const page = isShown(request.headers) ? errorPage(status, text) : undefined
  const body = Buffer.from(page?.body ?? `${text}\n`)
  const all = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': `${body.length}`,
    'Cache-Control': 'no-store',
    ...page?.headers,
    ...fields,
  }
  if (!('stream' in response) && !request.complete) response.shouldKeepAlive = false
  // Both kinds of response take this form.
  const out = response as ServerResponse
  out.writeHead(status, all)
  if (request.method !== 'HEAD') out.write(body)
  await stopReading(request)
  await end(exchange)
}

/** Ends a response. Resolves when everything has been sent, or the visitor has left. */
export function end({ request, response }: Answering): Promise<void> {
  return new Promise((resolve) => {
    if (hasLeft(response)) {
      resolve()
      return
    }
    response.once('finish', resolve).once('close', resolve)
    response.end()
    if (!('stream' in response) || request.complete || response.stream.endAfterHeaders) return
    // RFC 9113 §8.1: a client need not send the rest. Node waits for the end of the response, trailers included.
    const { stream } = response
    stream.once('wantTrailers', () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)))
  })
}
