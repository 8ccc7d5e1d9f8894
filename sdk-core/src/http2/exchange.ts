// One exchange over HTTP/2: the handler gets the request of a stream, the visitor gets the response.

import { encodeLatin1 } from '../bytes/latin1.ts'
import { Call } from '../exchange/handler-call.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { Answer } from '../exchange/prepared-response.ts'
import { refusalFields } from '../semantics/error-response.ts'
import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { HEAD_DEADLINE_MS } from '../semantics/limits.ts'
import type { Tunnel } from '../websocket/upgrade.ts'
import type { AskedOnStream } from './request-parser.ts'
import type { Stream } from './stream.ts'

/** Settles when the stream is over; never rejects. */
export async function exchange(stream: Stream, asked: AskedOnStream, options: HttpOptions): Promise<void> {
  const { method } = asked.head
  try {
    const body = await bodyOf(stream, asked)
    // What came with the request may have been its cancellation: then no handler has to start.
    if (stream.isOver) return
    await respond(stream, asked, new Call(asked, body, () => tunnelOver(stream), options))
  } catch (error) {
    if (!stream.hasResponded && error instanceof HttpError) refuse(stream, error, method)
    else stream.reset('response_failed')
  }
}

/** The answer to a request that no handler gets to see, or whose body turned out malformed. */
export function refuse(stream: Stream, error: HttpError, method: string | undefined): void {
  stream.respond([[':status', String(error.status)], ...refusalFields(error)], method === 'HEAD')
  if (method === 'HEAD') return
  const text = encodeLatin1(error.message)
  stream.write([text], text.length, true).catch(() => {}) // the visitor did not wait for it
}

async function bodyOf(
  stream: Stream,
  { head, expectsContinue, webSocket }: AskedOnStream,
): Promise<Stream['body']> {
  const { body } = stream
  if (!body || webSocket) return undefined
  if (expectsContinue) body.invite = () => stream.hasResponded || stream.respond([[':status', '100']], false)
  // Some visitors send the end of the stream in a frame of its own: a GET or HEAD that has no content says so late.
  const isUsuallyEmpty = head.method === 'GET' || head.method === 'HEAD'
  return isUsuallyEmpty && !(await body.begins(HEAD_DEADLINE_MS)) ? undefined : body
}

async function respond(stream: Stream, asked: AskedOnStream, call: Call): Promise<void> {
  stream.watch(call)
  try {
    const answer = await call.answer()
    // To CONNECT, 2xx would say that the WebSocket is open (RFC 8441 §5).
    if (answer instanceof Answer && asked.webSocket && answer.response.ok) {
      answer.cancel(undefined)
      throw new HttpError('upgrade_declined')
    }
    try {
      if (answer instanceof Answer) await reply(stream, answer)
      else {
        await answer.send()
        await stream.write([], 0, true)
      }
    } catch (error) {
      call.failed(error)
      throw error
    }
  } finally {
    call.end()
  }
}

async function reply(stream: Stream, answer: Answer): Promise<void> {
  const head: Field[] = [[':status', String(answer.response.status)], ...answer.fields]
  const isHeadOnly = answer.isEmpty || answer.length === 0
  stream.respond(head, isHeadOnly)
  if (isHeadOnly) return
  for await (const { pieces, size, done } of answer.groups()) await stream.write(pieces, size, done)
}

/** RFC 8441 §5: behind 200 the stream is the other protocol's. */
function tunnelOver(stream: Stream): Tunnel {
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
