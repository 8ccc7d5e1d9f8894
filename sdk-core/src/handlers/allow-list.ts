// An allow-list: only requests that it names reach the handler.

import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'

/** An AllowRule names a path, and the methods that are allowed there. */
export interface AllowRule {
  /** The path: `/exactly/this`, or `/all/below/*`. */
  path: string
  /**
   * The methods in upper case, as visitors send them. GET includes HEAD.
   * @default every method
   */
  methods?: readonly string[] | undefined
}

/**
 * Dots and slashes that are encoded, even twice, and dots with parameters: a framework that decodes or strips them
 * would see another path than the one compared here.
 */
const AMBIGUOUS = /%(?:25)*(?:2e|2f|5c)|\/\.{1,2};/i

/**
 * Returns a handler that answers 403 when no rule names the path, 405 when the rules for the path do not name the
 * method, and calls `handler` for all other requests.
 */
export function allow(handler: FetchHandler, rules: readonly AllowRule[]): FetchHandler {
  for (const { path } of rules)
    if (!/^\/[^*]*(?:\/\*)?$|^\/\*$/.test(path))
      throw new SvcError('invalid_option', `not a path to allow: ${path}`)
  return (request, info) => {
    const { pathname } = new URL(request.url)
    const found = AMBIGUOUS.test(pathname) ? [] : rules.filter(({ path }) => covers(path, pathname))
    if (found.length === 0) return new Response('Not allowed here\n', { status: 403 })
    const methods = found.flatMap((rule) => (rule.methods ? methodsOf(rule.methods) : [request.method]))
    if (methods.includes(request.method)) return handler(request, info, info)
    const headers = { Allow: [...new Set(methods)].join(', ') }
    return new Response('Not with this method\n', { status: 405, headers })
  }
}

function covers(path: string, pathname: string): boolean {
  return path.endsWith('/*') ? pathname.startsWith(path.slice(0, -1)) : pathname === path
}

function methodsOf(methods: readonly string[]): readonly string[] {
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}
