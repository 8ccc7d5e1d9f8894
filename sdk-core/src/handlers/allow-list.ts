// An allow-list: only requests that it names reach the handler.

import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import { covers, isAmbiguous, isPathPattern } from '../semantics/path-pattern.ts'
import { lineOrPage } from './line-or-page.ts'

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
 * Returns a handler that answers 403 when no rule names the path, 405 when the rules for the path do not name the
 * method, and calls `handler` for all other requests.
 */
export function allow(handler: FetchHandler, rules: readonly AllowRule[]): FetchHandler {
  for (const { path } of rules)
    if (!isPathPattern(path)) throw new SvcError('invalid_option', `not a path to allow: ${path}`)
  return (request, info) => {
    const { pathname } = new URL(request.url)
    const found = isAmbiguous(pathname) ? [] : rules.filter(({ path }) => covers(path, pathname))
    if (found.length === 0) return lineOrPage(request, 403, 'Not allowed here')
    const methods = found.flatMap((rule) => (rule.methods ? methodsOf(rule.methods) : [request.method]))
    if (methods.includes(request.method)) return handler(request, info, info)
    const headers = { Allow: [...new Set(methods)].join(', ') }
    return lineOrPage(request, 405, 'Not with this method', headers)
  }
}

function methodsOf(methods: readonly string[]): readonly string[] {
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}
