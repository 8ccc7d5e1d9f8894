// Applies traffic rules around a handler, and around its direct path if it has one.

import { SvcError } from '../errors.ts'
import { CROSS_ORIGIN, type CrossOriginHandler } from '../exchange/cross-origin.ts'
import { DIRECT, type DirectlyHandled } from '../exchange/direct.ts'
import type { SiteOptions } from '../site/options.ts'
import type { TrafficRules } from './options.ts'
import { parseRules } from './parse.ts'
import { exchangeByRules } from './ruled-exchange.ts'
import { answerByRules, crossOriginByRules } from './ruled-request.ts'

/**
 * Returns the options of a site whose handler has rules around it.
 * @throws SvcError `invalid_option`
 */
export function ruledSite(options: SiteOptions, rules: TrafficRules): SiteOptions {
  const fetch = withRules(options.fetch, rules)
  if (options.cache)
    throw new SvcError(
      'invalid_option',
      'rules and cache exclude each other: the relay serves its copy of the files without them',
    )
  return { ...options, fetch }
}

/**
 * Returns a handler that applies `rules` to requests and responses.
 * @throws SvcError `invalid_option` that names the rule
 */
export function withRules(handler: DirectlyHandled, rules: TrafficRules): CrossOriginHandler {
  const parsed = parseRules(rules)
  const ruled: CrossOriginHandler = (request, info) => answerByRules(parsed, handler, request, info)
  const direct = handler[DIRECT]
  if (direct) ruled[DIRECT] = (request) => exchangeByRules(parsed, direct, request)
  if (parsed.cors.length > 0) ruled[CROSS_ORIGIN] = crossOriginByRules(parsed)
  return ruled
}
