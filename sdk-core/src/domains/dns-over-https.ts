// Asks a resolver for CAA records by HTTPS (RFC 8484, RFC 1035), since a page has no other DNS.

import { base64url } from '../bytes/base64url.ts'
import { concat } from '../bytes/concat.ts'
import { decodeLatin1, encodeLatin1 } from '../bytes/latin1.ts'
import { type AskCaa, type CaaAnswer, type CaaProperty, caaAnswer } from './protection.ts'

const CNAME = 5
const CAA = 257
const IN = 1
const NAME_ERROR = 3
const TRUNCATED = 0x02_00
const HEADER_BYTES = 12
const DEADLINE_MS = 10_000
const ANSWER_MAX_BYTES = 65_535
/** A name has at most this many labels (RFC 1035 §2.3.4). */
const LABELS_MAX = 127
/** Identifier 0, as RFC 8484 §4.1 asks for; recursion desired; one question. */
const HEADER = Uint8Array.of(0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0)

/**
 * Returns the function that asks.
 * @param resolver its URL
 */
export function askByHttps(resolver: string, send: typeof fetch = (...args) => fetch(...args)): AskCaa {
  return async (name, signal) => {
    const url = new URL(resolver)
    url.searchParams.set('dns', base64url(encodeQuestion(name)))
    const response = await send(url, {
      headers: { Accept: 'application/dns-message' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    })
    if (!response.ok) throw new Error(`${url.host} answers with status ${response.status}`)
    const message = new Uint8Array(await response.arrayBuffer())
    if (message.length > ANSWER_MAX_BYTES) throw new Error(`the answer of ${url.host} is too long`)
    return parseAnswer(message)
  }
}

/** @param name in A-labels */
export function encodeQuestion(name: string): Uint8Array {
  const labels = name.split('.').flatMap((label) => [Uint8Array.of(label.length), encodeLatin1(label)])
  return concat([HEADER, ...labels, Uint8Array.of(0, CAA >> 8, CAA & 0xff, 0, IN)])
}

/** @throws RangeError for a message that is malformed, or says that the resolver failed */
export function parseAnswer(message: Uint8Array): CaaAnswer {
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  const flags = view.getUint16(2)
  const code = flags & 0xf
  if (code !== 0 && code !== NAME_ERROR) throw new RangeError(`the resolver failed with code ${code}`)
  // Records that are missing may let others issue.
  if (flags & TRUNCATED) throw new RangeError('the answer is cut short')
  let at = HEADER_BYTES
  for (let left = view.getUint16(4); left > 0; left--) at = afterName(view, at) + 4
  let isAlias = false
  const properties: CaaProperty[] = []
  for (let left = view.getUint16(6); left > 0; left--) {
    at = afterName(view, at)
    const [type, length] = [view.getUint16(at), view.getUint16(at + 8)]
    const data = message.subarray(at + 10, at + 10 + length)
    at += 10 + length
    if (at > message.length) throw new RangeError('the answer is cut short')
    if (type === CNAME) isAlias = true
    if (type !== CAA) continue
    const tagEnd = 2 + data[1]!
    const [tag, value] = [data.subarray(2, tagEnd), data.subarray(tagEnd)].map(decodeLatin1) as [
      string,
      string,
    ]
    properties.push({ flags: data[0]!, tag, value })
  }
  return caaAnswer(isAlias, properties.length > 0 ? properties : undefined)
}

/** Returns where a name ends: a pointer is its last part (RFC 1035 §4.1.4). */
function afterName(view: DataView, start: number): number {
  let at = start
  for (let labels = 0; labels <= LABELS_MAX; labels++) {
    const length = view.getUint8(at)
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    at += 1 + length
  }
  throw new RangeError('the answer has a name without an end')
}
