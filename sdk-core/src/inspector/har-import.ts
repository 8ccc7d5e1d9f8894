// Reads the entries of an HTTP Archive: each as far as it is understood, for it may come from anywhere.

import { isRecord } from '../control/json-checks.ts'
import { SvcError } from '../errors.ts'
import type { Field } from '../semantics/fields.ts'
import { fromBase64 } from './base64.ts'
import type { Answer, Content, Entry, HttpVersion, StreamMessage } from './entry.ts'
import { formPartsOf } from './form-parts.ts'
import type { Inspector } from './inspector.ts'
import { ENTRY_OVERHEAD_BYTES, ITEM_OVERHEAD_BYTES, MESSAGE_BYTES, MESSAGES_MAX } from './limits.ts'

/** The most fields of one message. */
const FIELDS_MAX = 200
const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0)

interface Found {
  body: Uint8Array<ArrayBuffer>
  bytes: number
}

/**
 * Adds the entries of an archive to the inspector.
 * @returns the number of entries that were added, and of those that were not understood
 * @throws SvcError `invalid_option` when it is no archive
 */
export function importHar(inspector: Inspector, har: unknown): { imported: number; skipped: number } {
  const log = isRecord(har) ? har.log : undefined
  const entries = isRecord(log) ? log.entries : undefined
  if (!Array.isArray(entries))
    throw new SvcError('invalid_option', 'it is no HTTP Archive: log.entries is missing')
  let imported = 0
  for (const each of entries) {
    const entry = entryOf(each, inspector.maxBodyBytes)
    if (!entry) continue
    inspector.add(entry, bytesOf(entry))
    imported += 1
  }
  return { imported, skipped: entries.length - imported }
}

function entryOf(value: unknown, max: number): Omit<Entry, 'id'> | undefined {
  if (!isRecord(value) || !isRecord(value.request)) return undefined
  const { request, response, startedDateTime, time, timings } = value
  const { method, url, httpVersion } = request
  const at = typeof startedDateTime === 'string' ? Date.parse(startedDateTime) : Number.NaN
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  if (typeof method !== 'string' || !/^[\w!#$%&'*+.^`|~-]{1,40}$/.test(method)) return undefined
  if (Number.isNaN(at) || !parsed || !/^(?:https?|wss?):$/.test(parsed.protocol)) return undefined
  parsed.username = ''
  parsed.password = ''
  const messages = messagesOf(value._webSocketMessages, at)
  const asked = requestOf(request, max)
  const { blocked, send, wait } = isRecord(timings) ? timings : {}
  const sent = positive(blocked) + positive(send)
  const error = isRecord(response) ? response._error : undefined
  return {
    at,
    tunnel: undefined,
    kind: messages ? 'websocket' : 'http',
    method,
    url: parsed.href.replace(/^ws/, 'http'),
    version: versionOf(httpVersion),
    address: undefined,
    request: asked,
    response: isRecord(response) ? answerOf(response, max) : undefined,
    times: { sent, head: sent + positive(wait), end: positive(time) },
    error: typeof error === 'string' ? error.slice(0, 500) : undefined,
    messages: messages ?? [],
    droppedMessages: 0,
    replayOf: undefined,
    isImported: true,
  }
}

function requestOf({ headers, postData, bodySize }: Record<string, unknown>, max: number): Content {
  const fields = fieldsOf(headers)
  const { text, _encoding } = isRecord(postData) ? postData : {}
  const { body, bytes } = contentOf(text, _encoding, max)
  const type = fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  const form = formPartsOf(type)
  form?.add(body)
  return {
    headers: fields,
    trailers: [],
    body,
    bodyBytes: Math.max(bytes, positive(bodySize)),
    parts: form?.parts,
  }
}

/** The content of an archive is decompressed. */
function answerOf(response: Record<string, unknown>, max: number): Answer | undefined {
  const { status, statusText, headers, content } = response
  if (!Number.isInteger(status) || (status as number) < 100) return undefined
  const { text, encoding, size } = isRecord(content) ? content : {}
  const { body, bytes } = contentOf(text, encoding, max)
  return {
    status: status as number,
    statusText: typeof statusText === 'string' ? statusText.slice(0, 200) : '',
    headers: fieldsOf(headers).filter(([name]) => name.toLowerCase() !== 'content-encoding'),
    trailers: [],
    body,
    bodyBytes: Math.max(bytes, positive(size)),
    parts: undefined,
  }
}

function contentOf(text: unknown, encoding: unknown, max: number): Found {
  if (typeof text !== 'string') return { body: NO_BYTES, bytes: 0 }
  const all = encoding === 'base64' ? decoded(text) : new TextEncoder().encode(text)
  return { body: all.slice(0, max), bytes: all.length }
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(text)
  } catch {
    return NO_BYTES
  }
}

function fieldsOf(headers: unknown): Field[] {
  if (!Array.isArray(headers)) return []
  return headers.slice(0, FIELDS_MAX).flatMap((field): Field[] => {
    if (!isRecord(field) || typeof field.name !== 'string' || typeof field.value !== 'string') return []
    // Pseudo-header fields of HTTP/2, which browsers write, are no fields.
    return field.name.startsWith(':') ? [] : [[field.name.toLowerCase(), field.value, field.name]]
  })
}

function messagesOf(value: unknown, start: number): StreamMessage[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.slice(-MESSAGES_MAX).flatMap((each): StreamMessage[] => {
    if (!isRecord(each) || typeof each.data !== 'string') return []
    const kind = each.opcode === 2 ? 'binary' : each.opcode === 8 ? 'close' : 'text'
    const all = kind === 'binary' ? decoded(each.data) : new TextEncoder().encode(each.data)
    const at = Math.max(0, positive(each.time) * 1000 - start)
    const direction = each.type === 'send' ? 'in' : 'out'
    return [{ direction, kind, at, size: all.length, data: all.slice(0, MESSAGE_BYTES) }]
  })
}

function versionOf(value: unknown): HttpVersion | undefined {
  const [, version] = /^(?:http\/)?(1\.[01]|2)(?:\.0)?$|^h2$/i.exec(String(value)) ?? []
  if (/^h2$/i.test(String(value))) return '2'
  return version as HttpVersion | undefined
}

function positive(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

function bytesOf({ url, request, response, messages }: Omit<Entry, 'id'>): number {
  let bytes = ENTRY_OVERHEAD_BYTES + url.length
  for (const content of response ? [request, response] : [request]) {
    bytes += content.body.length
    for (const [name, value] of content.headers) bytes += ITEM_OVERHEAD_BYTES + 2 * name.length + value.length
    for (const part of content.parts ?? []) bytes += ITEM_OVERHEAD_BYTES + part.beginning.length
  }
  for (const { data } of messages) bytes += ITEM_OVERHEAD_BYTES + data.length
  return bytes
}
