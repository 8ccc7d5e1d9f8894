// What the rules say about one request, in their one order.

import type { Field } from '../semantics/fields.ts'
import {
  type Asking,
  BAD_PATH,
  maintenancePage,
  PREFLIGHT,
  type RuleRefusal,
  redirectTo,
  refusalTo,
  TOO_LARGE,
} from './answers.ts'
import { corsFields, varied, withCors } from './cors.ts'
import { redirectedUrl, rewrittenUrl } from './destinations.ts'
import { editedRequest, editedResponse, type HeaderEdit } from './header-edits.ts'
import { isFor } from './mocks.ts'
import type { OwnAnswer } from './own-answer.ts'
import type { ParsedRules } from './parse.ts'
import { type PathPattern, RequestPath } from './path.ts'

/** Asked is a request, of whatever kind. */
export interface Asked extends Asking {
  readonly method: string
  readonly isUpgrade: boolean
}

/** A Decision is what the rules say about one request. */
export interface Decision {
  /** The answer, when the handler does not get the request. */
  readonly answer: OwnAnswer | undefined
  /** Makes the answer when the request or its handler breaks a rule later. */
  readonly refuse: (refusal: RuleRefusal) => OwnAnswer
  /** The URL for the handler, when it is another one. */
  readonly url: URL | undefined
  readonly requestEdits: readonly HeaderEdit[]
  /** The most bytes of content. */
  readonly maxBytes: number | undefined
  /** The longest time until the head of the response, in milliseconds. */
  readonly responseMs: number | undefined
  /** Changes the fields of the response; undefined when they stay as they are. */
  readonly edit: ((fields: readonly Field[]) => Field[]) | undefined
}

/** Decides about a request. */
export function decide(rules: ParsedRules, asked: Asked): Decision {
  const { url } = asked
  const path = new RequestPath(url.pathname)
  const applies = ({ path: pattern }: { path: PathPattern }): boolean => pattern.covers(path)
  const edit = responseEdit(rules, asked, applies)
  const answer = ownAnswer(rules, asked, path, applies)
  const maxBytes = rules.requestBody.find(applies)?.maxBytes
  const rewrite = rules.rewrites.find(applies)
  const refuse = (refusal: RuleRefusal): OwnAnswer => refusalTo(asked, refusal)
  const mocked = rules.mocks.find((mock) => applies(mock) && isFor(mock, asked.method))?.answer
  return {
    answer: answer ?? (isTooLarge(asked, maxBytes) ? refuse(TOO_LARGE) : mocked),
    refuse,
    url: rewrite && !answer ? rewrittenUrl(rewrite, url, path) : undefined,
    requestEdits: rules.requestHeaders.filter(applies),
    maxBytes,
    responseMs: rules.timeouts.find(applies)?.responseMs,
    edit,
  }
}

/** Returns whether a rule answers the request as a preflight, which needs no handler and tells nothing of one. */
export function isOwnPreflight({ answer }: Decision): boolean {
  return answer === PREFLIGHT
}

/** Returns the fields of a response that is not the handler's, with what the CORS rule of the path adds. */
export function readableFields(rules: ParsedRules, asked: Asked, fields: readonly Field[]): Field[] {
  const path = new RequestPath(asked.url.pathname)
  const cors = asked.isUpgrade ? undefined : rules.cors.find(({ path: pattern }) => pattern.covers(path))
  return cors ? varied(withCors(fields, corsFields(cors, asked.field, false)), cors) : [...fields]
}

/** Returns the fields of a request for the handler. */
export function requestFields({ requestEdits }: Decision, fields: readonly Field[]): readonly Field[] {
  return requestEdits.length === 0 ? fields : editedRequest(fields, requestEdits)
}

type Applies = (rule: { path: PathPattern }) => boolean

function ownAnswer(
  rules: ParsedRules,
  asked: Asked,
  path: RequestPath,
  applies: Applies,
): OwnAnswer | undefined {
  const closed = rules.maintenance.find(
    (rule) => applies(rule) && !rule.except.some((open) => open.covers(path)),
  )
  if (closed) return maintenancePage(closed, asked)
  if (path.plain === undefined && rules.comparesPaths) return refusalTo(asked, BAD_PATH)
  const redirect = rules.redirects.find(applies)
  if (redirect) return redirectTo(redirect.status, redirectedUrl(redirect, asked.url, path))
  return rules.cors.some(applies) && isPreflight(asked) ? PREFLIGHT : undefined
}

function isPreflight({ method, isUpgrade, field }: Asked): boolean {
  return (
    method === 'OPTIONS' &&
    !isUpgrade &&
    field('origin') !== undefined &&
    field('access-control-request-method') !== undefined
  )
}

function isTooLarge({ field }: Asked, maxBytes: number | undefined): boolean {
  return maxBytes !== undefined && Number(field('content-length') ?? 0) > maxBytes
}

function responseEdit(rules: ParsedRules, asked: Asked, applies: Applies): Decision['edit'] {
  // CORS is about what scripts read of responses, and a WebSocket is none.
  const cors = asked.isUpgrade ? undefined : rules.cors.find(applies)
  const edits = rules.responseHeaders.filter(applies)
  if (!cors) return edits.length === 0 ? undefined : (fields) => editedResponse(fields, edits)
  const said = corsFields(cors, asked.field, isPreflight(asked))
  return (fields) => varied(editedResponse(withCors(fields, said), edits), cors)
}
