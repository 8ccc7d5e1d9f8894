// Finds what may override a request's method or path for a framework behind the site: fields, the query, and the content.

import { buildRequest } from '../../exchange/fetch-request.ts'
import type { Field } from '../../semantics/fields.ts'
import { JUDGED_CONTENT_MAX_BYTES, NAMED_PATHS_MAX } from './limits.ts'

/** Names of parameters by which frameworks override the method; PHP also turns `.method` and `[method` into `_method`. */
const OVERRIDE = /(?:^|[^a-z\d])[_.[]method|method[-_. ]?override|x[-_. ]http[-_. ]method/i
/** Fields that name a path, such as `X-Original-URL` and `X-Rewrite-URL`. */
const PATH_FIELD = /-(?:url|uri|path)$/
const ENCODED = /%([\da-f]{2})|\\u00([\da-f]{2})/gi
/** How many times content is decoded. */
const DECODINGS = 3

/** `X-HTTP-Method-Override`, `X-Method` and the like, in each spelling that CGI maps to them. Those of CORS are something else. */
export function isMethodField(name: string): boolean {
  const known = nameOf(name)
  return known.includes('method') && !known.startsWith('access-control-')
}

/** @returns the paths that fields of the request name */
export function pathsOf(fields: readonly Field[]): string[] {
  const values = fields.flatMap(([name, value]) => (PATH_FIELD.test(nameOf(name)) ? value.split(',') : []))
  return values
    .slice(0, NAMED_PATHS_MAX)
    .flatMap((value) => URL.parse(value.trim(), 'https://site')?.pathname ?? [])
}

/** @returns whether a query or content may have a parameter that replaces the method */
export function mayOverride(text: string): boolean {
  let decoded = text
  for (let times = 0; times <= DECODINGS; times += 1) {
    if (OVERRIDE.test(decoded)) return true
    const next = decoded.replace(ENCODED, (_, one, other) =>
      String.fromCharCode(Number.parseInt(one ?? other, 16)),
    )
    if (next === decoded) break
    decoded = next
  }
  return OVERRIDE.test(decoded.replace(/[\\\0]/g, ''))
}

/**
 * Reads the content of a request whose method is not the dearest.
 * @returns the request with its content; undefined when that may override the method, is too long, or has a content coding
 */
export async function withoutOverride(request: Request): Promise<Request | undefined> {
  const { body, headers, method, signal, url } = request
  if (body === null) return request
  if (headers.has('content-encoding')) return undefined
  const parts: Uint8Array[] = []
  let bytes = 0
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    bytes += value.length
    if (bytes > JUDGED_CONTENT_MAX_BYTES) {
      reader.cancel().catch(() => {}) // the visitor's connection may be gone
      return undefined
    }
  }
  const content = new Blob(parts as Uint8Array<ArrayBuffer>[])
  if (mayOverride(new TextDecoder('latin1').decode(await content.arrayBuffer()))) return undefined
  return buildRequest(url, { method, headers, signal }, content.stream())
}

function nameOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}
