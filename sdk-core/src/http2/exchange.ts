// One exchange over HTTP/2: it passes a stream's request to the handler, and the Response to the visitor.

import type { Inform } from '../exchange/direct.ts'
import { HandlerCall } from '../exchange/handler-call.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import type { OutgoingResponse } from '../exchange/outgoing-response.ts'
import { refusal } from '../exchange/refusal.ts'
import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { HEAD_DEADLINE_MS } from '../semantics/limits.ts'
import type { RequestHead } from '../semantics/request-head.ts'
import type { UpgradeTransport } from '../websocket/upgrade.ts'
import type { Http2Request } from './request-parser.ts'
import type { Stream } from './stream.ts'

/** Serves the request of one stream. Settles when the stream is over, and never rejects. */
export async function serveExchange(
  stream: Stream,
  request: Http2Request,
  options: HttpOptions,
): Promise<void> {
  try {
    const body = await bodyOf(stream, request)
    // The visitor may have cancelled the request at once: then the handler does not run.
    if (stream.isOver) return
    const inform: Inform = (status, _, fields) =>
      stream.respond([[':status', String(status)], ...fields], false)
    await respond(
      stream,
      request,
      new HandlerCall(request, body, () => transportOver(stream), options, inform),
    )
  } catch (error) {
    if (!stream.hasResponded && error instanceof HttpError)
      await sendErrorResponse(stream, error, request.head)
    else stream.reset('response_failed')
  }
}

/** Answers a request that does not reach a handler, or whose body turned out malformed. */
export async function sendErrorResponse(
  stream: Stream,
  error: HttpError,
  head: Pick<RequestHead, 'method' | 'fields'>,
): Promise<void> {
  try {
    await sendResponse(stream, await refusal(error, head.fields, head.method))
  } catch {
    // The visitor left before the text: the stream is over, or has to be.
    stream.reset('response_failed')
  }
}

async function bodyOf(
  stream: Stream,
  { head, expectsContinue, webSocket }: Http2Request,
): Promise<Stream['body']> {
  const { body } = stream
  if (!body || webSocket) return undefined
  if (expectsContinue)
    body.sendContinue = () => stream.hasResponded || stream.respond([[':status', '100']], false)
  // Some visitors end the stream in a later frame, so it is unclear at first whether a GET or HEAD has content.
  const isUsuallyEmpty = head.method === 'GET' || head.method === 'HEAD'
  return isUsuallyEmpty && !(await body.begins(HEAD_DEADLINE_MS)) ? undefined : body
}

async function respond(stream: Stream, request: Http2Request, call: HandlerCall): Promise<void> {
  stream.setDisconnectListener(call)
  try {
    const answer = await call.answer()
    // A 2xx response to CONNECT would mean that the WebSocket is open (RFC 8441 §5).
    if ('batches' in answer && request.webSocket && isSuccess(answer.status)) {
      answer.cancel(undefined)
      throw new HttpError('upgrade_declined', 'There is no WebSocket here', 404)
    }
    try {
      if ('batches' in answer) await sendResponse(stream, answer)
      else {
        await answer.send()
        if (!stream.isOver) await stream.write([], 0, true)
      }
    } catch (error) {
      call.failed(error)
      throw error
    }
  } finally {
    call.end()
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

async function sendResponse(stream: Stream, response: OutgoingResponse): Promise<void> {
  const head: Field[] = [[':status', String(response.status)], ...response.fields]
  const isHeadOnly = response.isEmpty || (response.length === 0 && !response.trailers)
  stream.respond(head, isHeadOnly)
  if (isHeadOnly) return
  for await (const { pieces, size, done } of response.batches()) {
    const trailers = done ? response.trailers : undefined
    await stream.write(pieces, size, done && !trailers)
    if (trailers) stream.respond(trailers, true)
  }
}

/** Passes the stream to the WebSocket after 200 (RFC 8441 §5). */
function transportOver(stream: Stream): UpgradeTransport {
  return {
    isKeyed: false,
    open: async (fields) => stream.respond([[':status', '200'], ...fields], false),
    stream: {
      read: async () => stream.body?.read(),
      write: (bytes) => stream.write([bytes], bytes.length, false),
      end: () => stream.write([], 0, true),
      abort: () => stream.reset('cancelled'),
    },
  }
}
