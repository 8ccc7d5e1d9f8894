// The rules for a handler that gets a Request and returns a Response, also for WebSockets.

import { bodyStream } from '../exchange/body-stream.ts'
import type { CrossOrigin } from '../exchange/cross-origin.ts'
import { losses } from '../exchange/disconnect-signal.ts'
import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import { buildRequest, makeHeaders } from '../exchange/fetch-request.ts'
import { lossSignal } from '../exchange/loss-signal.ts'
import { withHeaders } from '../handlers/response-headers.ts'
import { isResponse } from '../platform-objects.ts'
import { AnswerDeadline, LATE } from './answer-deadline.ts'
import { TIMED_OUT, TOO_LARGE, toResponse } from './answers.ts'
import {
  type Asked,
  type Decision,
  decide,
  isOwnPreflight,
  readableFields,
  requestFields,
} from './decision.ts'
import type { ParsedRules } from './parse.ts'
import { WatchedBody } from './watched-body.ts'

/** Answers a request by the rules and the handler. @throws the error of the handler */
export async function answerByRules(
  rules: ParsedRules,
  handler: FetchHandler,
  request: Request,
  info: FetchInfo,
): Promise<Response> {
  const decision = decide(rules, askedBy(request))
  if (decision.answer) return edited(toResponse(decision.answer), decision)
  return edited(await passed(handler, request, info, decision), decision)
}

/** Returns what the rules say to pages of other origins about requests that the handler does not get. */
export function crossOriginByRules(rules: ParsedRules): CrossOrigin {
  return {
    preflight(request) {
      if (request.method !== 'OPTIONS') return undefined
      const decision = decide(rules, askedBy(request))
      return isOwnPreflight(decision) ? edited(toResponse(decision.answer!), decision) : undefined
    },
    readable(request, refusal) {
      const fields = readableFields(rules, askedBy(request), [...refusal.headers])
      return withHeaders(refusal, makeHeaders(fields))
    },
  }
}

function askedBy({ method, url, headers }: Request): Asked {
  return {
    method,
    url: new URL(url),
    isUpgrade: headers.get('upgrade')?.toLowerCase() === 'websocket',
    field: (name) => headers.get(name) ?? undefined,
  }
}

async function passed(
  handler: FetchHandler,
  request: Request,
  info: FetchInfo,
  decision: Decision,
): Promise<Response> {
  const { url, requestEdits, maxBytes, responseMs, refuse } = decision
  const isWatched = maxBytes !== undefined || responseMs !== undefined
  if (!url && requestEdits.length === 0 && !isWatched) return handler(request, info, info)
  const deadline = new AnswerDeadline(responseMs)
  const reader = isWatched ? request.body?.getReader() : undefined
  const source = reader && { next: async () => (await reader.read()).value }
  const body = source && new WatchedBody(source, maxBytes, () => deadline.begin())
  const late = new AbortController()
  const stream = body ? bodyStream(body, (reason) => reader!.cancel(reason)) : (request.body ?? undefined)
  const given = passedRequest(request, decision, stream, late)
  const answering = (async () => handler(given, info, info))()
  try {
    const response = await deadline.outcome(answering)
    if (response === LATE) {
      late.abort(new DOMException('The handler did not answer in time', 'TimeoutError'))
      answering.then((found) => found.body?.cancel()).catch(() => {}) // Nobody waits for it any longer.
      return toResponse(refuse(TIMED_OUT))
    }
    if (!body?.isTooLarge) return response
    response.body?.cancel().catch(() => {}) // Ignores a failed clean-up of the handler.
  } catch (error) {
    if (!body?.isTooLarge) throw error
  }
  return toResponse(refuse(TOO_LARGE))
}

/** Makes the request for the handler. */
function passedRequest(
  request: Request,
  decision: Decision,
  body: ReadableStream<Uint8Array> | undefined,
  late: AbortController,
): Request {
  const signal = AbortSignal.any([request.signal, late.signal])
  const headers = makeHeaders(requestFields(decision, [...request.headers]))
  const { href } = decision.url ?? { href: request.url }
  const made = buildRequest(href, { method: request.method, headers, signal }, body)
  if (losses.has(request)) losses.set(made, endOf(lossSignal(request), late.signal))
  return made
}

/** Returns a promise that rejects when one of the signals is aborted. */
function endOf(...signals: readonly AbortSignal[]): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {}) // Nobody may wait for it.
  for (const signal of signals) signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return promise
}

function edited(response: Response, { edit }: Decision): Response {
  if (!edit || !isResponse(response)) return response
  return withHeaders(response, makeHeaders(edit([...response.headers])))
}
