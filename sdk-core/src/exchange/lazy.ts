// What few responses need, and is loaded for them: the length for HEAD, and the place to which a page's own redirect leads.

import { ResponseBody } from './response-body.ts'

/**
 * Corrects where a redirect leads.
 * @returns for HEAD, the length of the content that GET would get, when all of it is ready
 */
export async function prepareLazily(response: Response, method: string): Promise<number | undefined> {
  const { body, headers } = response
  const { origin } = globalThis.location ?? {}
  const location = headers.get('location')
  if (origin && location?.startsWith(`${origin}/`) && isRedirect(response)) {
    const corrected = new Headers(headers)
    corrected.set('location', location.slice(origin.length))
    Object.defineProperty(response, 'headers', { value: corrected, configurable: true })
  }
  return method === 'HEAD' && body ? lengthOf(body) : undefined
}

/**
 * Says whether `Response.redirect` made the response: of those that a handler makes, such alone have headers that cannot be changed.
 * `Response.redirect('/x')` makes a URL at the origin of the publisher's page, which is seldom that of the site.
 */
function isRedirect(response: Response): boolean {
  try {
    // those of the platform, also where a handler put others in their place
    const headers: Headers = Reflect.get(Response.prototype, 'headers', response)
    headers.set('location', headers.get('location') ?? '')
    return false
  } catch {
    return true
  }
}

/** The bytes with which content in a coding begins. That of Brotli may begin with any. */
const BEGINNINGS: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
}
/** Bytes of readable text that no compressed content begins with by chance. */
const TEXT_BYTES = 32
const TEXT = /^[\t\n\r\x20-\x7e]*$/

/**
 * Finds content that `fetch` has decoded, and that a copy of its response sends with the Content-Encoding of before.
 * @param bytes the beginning of the content
 * @throws TypeError
 */
export function requireEncoded(headers: Headers, bytes: Uint8Array | undefined): void {
  const coding = headers.get('content-encoding')?.trim().toLowerCase()
  if (!bytes || coding === undefined || coding === 'identity') return
  const expected = BEGINNINGS[coding]
  const isText =
    bytes.length >= TEXT_BYTES && TEXT.test(String.fromCharCode(...bytes.subarray(0, TEXT_BYTES)))
  if (isText || expected?.some((byte, at) => at < bytes.length && bytes[at] !== byte))
    throw new TypeError(
      `The content is not ${coding}, as Content-Encoding says: fetch has decoded it. Return the response of fetch itself, or delete Content-Encoding and Content-Length`,
    )
}

async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number | undefined> {
  const content = new ResponseBody(body)
  try {
    const { done, size } = await content.ready()
    return done ? size : undefined
  } finally {
    content.cancel(undefined)
  }
}
