// An allow-list: what is not named does not reach the handler.

import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'

/** An AllowRule names a path, and the methods that may be used there. */
export interface AllowRule {
  /** `/exactly/this`, or `/all/below/*`. */
  path: string
  /**
   * Methods in upper case, as they are sent; GET includes HEAD.
   * @default every method
   */
  methods?: readonly string[] | undefined
}

/**
 * Dots and slashes in disguise, be it a double one, and dots with parameters: a framework that decodes or strips them
 * sees another path than was compared here.
 */
const AMBIGUOUS = /%(?:25)*(?:2e|2f|5c)|\/\.{1,2};/i

/** Answers 403 where no rule names the path, and 405 where none that does names the method. */
export function allow(handler: FetchHandler, rules: readonly AllowRule[]): FetchHandler {
  for (const { path } of rules)
    if (!/^\/[^*]*(?:\/\*)?$|^\/\*$/.test(path))
      throw new SvcError('invalid_option', `not a path to allow: ${path}`)
  return (request, info) => {
    const { pathname } = new URL(request.url)
    const found = AMBIGUOUS.test(pathname) ? [] : rules.filter(({ path }) => covers(path, pathname))
    if (found.length === 0) return new Response('Not allowed here\n', { status: 403 })
    const methods = found.flatMap((rule) => (rule.methods ? methodsOf(rule.methods) : [request.method]))
    if (methods.includes(request.method)) return handler(request, info)
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
