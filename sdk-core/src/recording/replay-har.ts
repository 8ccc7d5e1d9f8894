// A handler that answers as an HTTP Archive (HAR 1.2) says: for tests, and in place of a server that is not there.

import { SvcError } from '../errors.ts'
import { makeHeaders } from '../exchange/fetch-request.ts'
import { withHeaders } from '../handlers/response-headers.ts'
import type { Answer, Entry } from '../inspector/entry.ts'
import { importHar } from '../inspector/har-import.ts'
import { Inspector } from '../inspector/inspector.ts'
import { maskedUrl } from '../inspector/secrets.ts'
import type { Field } from '../semantics/fields.ts'

/** The most entries and bytes of an archive, which stays in memory. */
const ENTRIES_MAX = 100_000
const BYTES_MAX: number = 512 * 1024 * 1024
const BODY_MAX_BYTES: number = 64 * 1024 * 1024

/** Fields of the connection and of the framing, which the SDK sets itself. */
const FRAMING =
  /^(?:connection|content-length|content-encoding|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i
/** A masked value is in no field, which has bytes alone. */
const NOT_IN_FIELDS = /[^\t\x20-\x7e\x80-\xff]/
const FIELD_NAME = /^[!#$%&'*+.^_`|~\w-]+$/
const STATUS_MIN = 200
const STATUS_MAX = 599
/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

const UNKNOWN = 'The recording has no answer for this method, path and query\n'
const BROKEN = 'The recording has no whole answer for this request\n'

/** The answers for one method, path and query, in the order of the recording. */
interface Track {
  readonly entries: readonly Entry[]
  next: number
}

/**
 * Returns a handler that answers with the recorded answers: by method, path and query, in their order. After the last one for such a
 * request, that is the answer again. Others get 404. The host does not count, so that a test can have it in place of `fetch`.
 * @param har the archive, as text or parsed
 * @throws SvcError `invalid_option` when it is no archive
 */
export function replayHar(har: unknown): (request: Request) => Response {
  const tracks = tracksOf(typeof har === 'string' ? parsed(har) : har)
  return ({ method, url }) => {
    const key = keyOf(url)
    const track = tracks.get(`${method} ${key}`) ?? (method === 'HEAD' ? tracks.get(`GET ${key}`) : undefined)
    if (!track) return plain(404, UNKNOWN)
    const entry = track.entries[track.next]!
    track.next = Math.min(track.next + 1, track.entries.length - 1)
    return responseOf(entry.response, method)
  }
}

function tracksOf(har: unknown): Map<string, Track> {
  const inspector = new Inspector({ limit: ENTRIES_MAX, maxBodyBytes: BODY_MAX_BYTES, maxBytes: BYTES_MAX })
  importHar(inspector, har)
  const { entries, bytes } = inspector.dropped
  if (entries > 0)
    throw new SvcError(
      'invalid_option',
      `the archive is too large: ${entries} entries and ${bytes} bytes too many`,
    )
  const tracks = new Map<string, Track & { entries: Entry[] }>()
  const inOrder = [...inspector.entries].reverse().sort((one, other) => one.at - other.at)
  for (const entry of inOrder) {
    if (entry.kind !== 'http') continue
    const key = `${entry.method} ${keyOf(entry.url)}`
    const track = tracks.get(key) ?? { entries: [], next: 0 }
    track.entries.push(entry)
    tracks.set(key, track)
  }
  return tracks
}

/** Secrets of a query are masked in a recording, so that any value is the same. */
function keyOf(url: string): string {
  const { pathname, search } = new URL(url)
  return maskedUrl(pathname + decoded(search))
}

/** A masked value is percent-encoded by the parser of URLs. */
function decoded(search: string): string {
  return search.replaceAll('%E2%80%A2', '•')
}

function responseOf(answer: Answer | undefined, method: string): Response {
  if (!answer || !isWhole(answer)) return plain(502, BROKEN)
  const { status, body } = answer
  const statusText = NOT_IN_FIELDS.test(answer.statusText) ? '' : answer.statusText
  const isEmpty = WITHOUT_BODY.has(status) || method === 'HEAD'
  const response = new Response(isEmpty ? null : body.slice(), { status, statusText })
  return withHeaders(response, makeHeaders(answer.headers.filter(isSent)))
}

function isWhole({ status, body, bodyBytes }: Answer): boolean {
  return status >= STATUS_MIN && status <= STATUS_MAX && body.length >= bodyBytes
}

function isSent([name, value]: Field): boolean {
  return FIELD_NAME.test(name) && !FRAMING.test(name) && !NOT_IN_FIELDS.test(value)
}

function plain(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SvcError('invalid_option', 'it is no HTTP Archive: it is not JSON', { cause })
  }
}
