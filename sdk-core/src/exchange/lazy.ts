// Code that few responses need, loaded on demand: the length for HEAD, and the target of a page's own redirect.

import { ResponseBody } from './response-body.ts'

/**
 * Corrects the target of a redirect.
 * @returns for HEAD, the length of the content of a GET, if all of it is ready
 */
export async function prepareLazily(
  response: Response,
  method: string | undefined,
): Promise<number | undefined> {
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
 * Returns whether `Response.redirect` made the response: of a handler's responses, only those have immutable headers.
 * `Response.redirect('/x')` makes a URL at the origin of the publishing page, which is rarely the site's.
 */
function isRedirect(response: Response): boolean {
  try {
    // The platform's headers, even if a handler replaced them.
    const headers: Headers = Reflect.get(Response.prototype, 'headers', response)
    headers.set('location', headers.get('location') ?? '')
    return false
  } catch {
    return true
  }
}

/** The first bytes of content in each coding. Brotli has none. */
const BEGINNINGS: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
}
/** The length of readable text, in bytes, with which compressed content never begins by chance. */
const TEXT_BYTES = 32
const TEXT = /^[\t\n\r\x20-\x7e]*$/

/**
 * Detects content that `fetch` has decoded, in a copy of its response that kept the Content-Encoding.
 * @param bytes the first bytes of the content
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
