// Makes a recorded request again, perhaps edited, and reads its answer to the end.

import { SvcError } from '../errors.ts'
import type { DirectExchange, DirectRequest } from '../exchange/direct.ts'
import type { FetchInfo } from '../exchange/fetch-handler.ts'
import { buildRequest, makeHeaders } from '../exchange/fetch-request.ts'
import type { Field } from '../semantics/fields.ts'
import { UpgradeError } from '../semantics/http-error.ts'
import type { Entry } from './entry.ts'

/** An Edit is what a replay changes of a request. */
export interface Edit {
  method?: string | undefined
  /** A URL, or the path with its query. The site stays the same. */
  url?: string | undefined
  headers?: readonly Field[] | undefined
  body?: Uint8Array<ArrayBuffer> | undefined
}

/** A RepeatedRequest is a request whose content is known. */
export interface RepeatedRequest {
  method: string
  url: string
  fields: readonly Field[]
  body: Uint8Array<ArrayBuffer>
}

/** The longest time for an answer, in milliseconds: some, such as those of events, have no end. */
const ANSWER_DEADLINE_MS = 30_000
/** RFC 9110 §9.1. */
const METHOD = /^[!#$%&'*+\-.^_`|~\w]+$/
/** A field name, and the bytes that a value may have (RFC 9110 §5.1, §5.5). */
const FIELD_NAME = METHOD
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Fields that belong to the way of the first request. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'expect'])

/**
 * Returns the whole content of a request.
 * @throws SvcError when only its beginning was kept
 */
export function completeBody({ request }: Pick<Entry, 'request'>): Uint8Array<ArrayBuffer> {
  const { body, bodyBytes } = request
  if (bodyBytes > body.length)
    throw new SvcError('invalid_option', `only ${body.length} bytes of the body were kept`)
  return body
}

/** @throws SvcError `invalid_option` when the request cannot be repeated */
export function requestOf(entry: Entry, edit: Edit): RepeatedRequest {
  if (entry.kind === 'websocket')
    throw new SvcError('invalid_option', 'a WebSocket cannot be repeated: its messages depend on each other')
  const { method = entry.method, headers = entry.request.headers } = edit
  if (!METHOD.test(method)) throw new SvcError('invalid_option', 'the method is not one of HTTP')
  const wrong = headers.find(([name, value]) => !FIELD_NAME.test(name) || !FIELD_VALUE.test(value))
  if (wrong) throw new SvcError('invalid_option', `${JSON.stringify(wrong[0])} is not a field of HTTP`)
  const url = editedUrl(entry.url, edit.url)
  const body = edit.body ?? completeBody(entry)
  const kept = headers
    .map(([name, value]): Field => [name.toLowerCase(), value.trim()])
    .filter(([name]) => !OF_CONNECTION.has(name))
  if (body.length > 0) kept.push(['content-length', String(body.length)])
  return { method, url, fields: kept, body }
}

function editedUrl(before: string, given: string | undefined): string {
  if (given === undefined) return before
  const { origin } = new URL(before)
  const url = URL.parse(given, before)
  if (url?.origin !== origin || url.username !== '' || url.password !== '')
    throw new SvcError('invalid_option', `the URL is not one of ${origin}`)
  url.hash = ''
  return url.href
}

export function directRequestOf({ method, url, fields, body }: RepeatedRequest): DirectRequest {
  const pieces = [body].values()
  const content = body.length > 0 ? { next: async () => pieces.next().value } : undefined
  return { method, url: new URL(url), version: '1.1', fields, body: content }
}

export function webRequestOf({ method, url, fields, body }: RepeatedRequest): Request {
  const stream = body.length > 0 ? new Blob([body]).stream() : undefined
  return buildRequest(url, { method, headers: makeHeaders(fields) }, stream)
}

/** Returns what a handler gets beside a repeated request. */
export function replayInfo(canonicalUrl: string): FetchInfo {
  return {
    canonicalUrl,
    // The errors of a replay are seen in its answer.
    waitUntil: (work) => void Promise.resolve(work).catch(() => {}),
    passThroughOnException: () => {},
    props: {},
    upgrade: () => {
      throw new UpgradeError('upgrade_required')
    },
  }
}

/** Reads the answer to its end, which the recording sees. */
export async function readAnswer(exchange: DirectExchange): Promise<void> {
  const late = setTimeout(() => exchange.cancel(new Error('the answer has no end')), ANSWER_DEADLINE_MS)
  try {
    const answer = await exchange.respond()
    while (!(await answer.next()).done);
  } catch {
    // The recording has the error.
  } finally {
    clearTimeout(late)
  }
}

/** Reads the response to its end, which the recording sees. */
export async function readResponse(answering: Promise<Response>): Promise<void> {
  let late: ReturnType<typeof setTimeout> | undefined
  try {
    const { body } = await answering
    const reader = body?.getReader()
    late = setTimeout(() => void reader?.cancel(new Error('the answer has no end')), ANSWER_DEADLINE_MS)
    while (reader && !(await reader.read()).done);
  } catch {
    // The recording has the error.
  } finally {
    clearTimeout(late)
  }
}
