// Entries as an HTTP Archive 1.2 (HAR), which browsers and other tools open.

import { toBase64 } from './base64.ts'
import { textOf } from './body-view.ts'
import { decodedBody } from './decoded-body.ts'
import { type Content, type Entry, fieldOf, type StreamMessage } from './entry.ts'
import type { HeaderField } from './messages.ts'
import { maskedFields, maskedUrl } from './secrets.ts'

/** The most bytes of a decompressed content, and of all in one archive. */
const CONTENT_MAX_BYTES: number = 16 * 1024 * 1024
const CONTENTS_MAX_BYTES: number = 128 * 1024 * 1024

/** NameAndValue is a field, a cookie or a parameter of a query. */
interface NameAndValue {
  name: string
  value: string
}

/** HarEntry is an entry of an archive: what this writes, and reads again. Names with `_` are extensions. */
interface HarEntry {
  startedDateTime: string
  time: number
  request: {
    method: string
    url: string
    httpVersion: string
    cookies: NameAndValue[]
    headers: NameAndValue[]
    queryString: NameAndValue[]
    postData?: { mimeType: string; text: string; _encoding?: 'base64' } | undefined
    headersSize: number
    bodySize: number
  }
  response: {
    status: number
    statusText: string
    httpVersion: string
    cookies: NameAndValue[]
    headers: NameAndValue[]
    content: {
      size: number
      mimeType: string
      compression?: number | undefined
      text?: string | undefined
      encoding?: 'base64' | undefined
    }
    redirectURL: string
    headersSize: number
    bodySize: number
    _error?: string | undefined
  }
  cache: Record<string, never>
  timings: { blocked: number; send: number; wait: number; receive: number }
  comment?: string | undefined
  /** As Chromium writes them: `send` comes from the visitor. */
  _webSocketMessages?: { type: 'send' | 'receive'; time: number; opcode: number; data: string }[] | undefined
}

export interface Har {
  log: { version: '1.2'; creator: { name: string; version: string }; entries: HarEntry[] }
}

/**
 * @param entries in the order in which they came
 * @param max the most bytes of all contents that are decompressed: of the rest, only the sizes are there
 */
export async function toHar(
  entries: readonly Entry[],
  isUnmasked: boolean,
  max: number = CONTENTS_MAX_BYTES,
): Promise<Har> {
  const all: HarEntry[] = []
  let left = max
  // One after another: decompressed contents take memory.
  for (const entry of entries) {
    const made = await harEntry(entry, isUnmasked, left)
    left = Math.max(0, left - (made.response.content.text?.length ?? 0))
    all.push(made)
  }
  return { log: { version: '1.2', creator: { name: 'svc', version: '1' }, entries: all } }
}

async function harEntry(entry: Entry, isUnmasked: boolean, max: number): Promise<HarEntry> {
  const { at, times, request, response } = entry
  const httpVersion = entry.version === undefined ? 'unknown' : `HTTP/${entry.version}`
  const { sent = 0, head = times.end ?? sent, end = head } = times
  const kept = [request, response].some((content) => content && content.body.length < content.bodyBytes)
  return {
    startedDateTime: new Date(at).toISOString(),
    time: end,
    request: { ...requestPart(entry, isUnmasked), httpVersion },
    response: { ...(await responsePart(entry, isUnmasked, max)), httpVersion },
    cache: {},
    timings: {
      blocked: sent,
      send: 0,
      wait: Math.max(0, head - sent),
      receive: Math.max(0, end - Math.max(head, sent)),
    },
    ...(kept && { comment: 'only the beginning of a content was kept' }),
    ...(entry.kind === 'websocket' && {
      _webSocketMessages: entry.messages.map((one) => socketMessage(at, one)),
    }),
  }
}

function requestPart(
  { method, url, request }: Entry,
  isUnmasked: boolean,
): Omit<HarEntry['request'], 'httpVersion'> {
  const headers = namesAndValues(maskedFields(request.headers, isUnmasked))
  const shown = isUnmasked ? url : maskedUrl(url)
  const text = textOf(request.body, false)
  const mimeType = fieldOf(request, 'content-type') ?? ''
  return {
    method,
    url: shown,
    cookies: cookiesOf(headers, 'cookie'),
    headers,
    queryString: [...new URL(shown).searchParams].map(([name, value]) => ({ name, value })),
    ...(request.body.length > 0 && {
      postData:
        text === undefined
          ? { mimeType, text: toBase64(request.body), _encoding: 'base64' as const }
          : { mimeType, text },
    }),
    headersSize: -1,
    bodySize: request.bodyBytes,
  }
}

async function responsePart(
  { response, error }: Entry,
  isUnmasked: boolean,
  max: number,
): Promise<Omit<HarEntry['response'], 'httpVersion'>> {
  const headers = namesAndValues(maskedFields(response?.headers ?? [], isUnmasked))
  const location = headers.find(({ name }) => name.toLowerCase() === 'location')
  return {
    status: response?.status ?? 0,
    statusText: response?.statusText ?? '',
    cookies: cookiesOf(headers, 'set-cookie'),
    headers,
    content: response ? await contentPart(response, max) : { size: 0, mimeType: 'x-unknown' },
    redirectURL: location?.value ?? '',
    headersSize: -1,
    bodySize: response?.bodyBytes ?? -1,
    ...(error !== undefined && { _error: error }),
  }
}

async function contentPart(response: Content, max: number): Promise<HarEntry['response']['content']> {
  const { bytes, length = bytes.length } = await decodedBody(response, Math.min(CONTENT_MAX_BYTES, max))
  const text = textOf(bytes, length > bytes.length)
  return {
    size: length,
    mimeType: fieldOf(response, 'content-type') ?? 'x-unknown',
    compression: length - response.bodyBytes,
    ...(text === undefined ? { text: toBase64(bytes), encoding: 'base64' as const } : { text }),
  }
}

function socketMessage(
  start: number,
  { direction, kind, at, data }: StreamMessage,
): NonNullable<HarEntry['_webSocketMessages']>[number] {
  const opcode = kind === 'binary' ? 2 : kind === 'close' ? 8 : 1
  return {
    type: direction === 'in' ? 'send' : 'receive',
    time: (start + at) / 1000,
    opcode,
    data: kind === 'binary' ? toBase64(data) : new TextDecoder().decode(data),
  }
}

function namesAndValues(fields: readonly HeaderField[]): NameAndValue[] {
  return fields.map(({ name, value }) => ({ name, value }))
}

function cookiesOf(headers: readonly NameAndValue[], field: 'cookie' | 'set-cookie'): NameAndValue[] {
  const values = headers.filter(({ name }) => name.toLowerCase() === field).map(({ value }) => value)
  const pairs = values.flatMap((value) => (field === 'cookie' ? value.split(';') : value.split(';', 1)))
  return pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return { name: name.trim(), value: value.join('=').trim() }
  })
}
