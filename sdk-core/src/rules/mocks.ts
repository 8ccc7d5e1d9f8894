// Mock rules: answers that need no handler and no target.

import { isBytes } from '../platform-objects.ts'
import type { Field } from '../semantics/fields.ts'
import { elementsOf, membersOf, printed, textsOf, type Value, wrong } from './checks.ts'
import { fieldsOf } from './header-edits.ts'
import type { OwnAnswer } from './own-answer.ts'
import type { PathPattern } from './path.ts'

/** A Mock is a parsed mock rule. */
export interface Mock {
  readonly path: PathPattern
  /** In the spelling of requests; undefined for all. */
  readonly methods: ReadonlySet<string> | undefined
  readonly answer: OwnAnswer
}

const METHOD = /^[!#$%&'*+.^_`|~\w-]+$/
const STATUS_MIN = 200
const STATUS_MAX = 599
/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'

/** @throws SvcError `invalid_option` */
export function parseMock(value: Value, pathOf: (value: Value | undefined) => PathPattern): Mock {
  const names = ['path', 'method', 'status', 'headers', 'body', 'json']
  const { path, method, status, headers, body, json } = membersOf(value, names)
  const given = status?.given ?? STATUS_MIN
  if (!Number.isInteger(given) || Number(given) < STATUS_MIN || Number(given) > STATUS_MAX)
    wrong(status!, `has to be a status from ${STATUS_MIN} to ${STATUS_MAX}, not ${printed(given)}`)
  if (body && json) wrong(json, 'and body exclude each other')
  const content = json ? textOf(json) : bodyOf(body)
  if (content !== '' && WITHOUT_BODY.has(Number(given)))
    wrong((body ?? json)!, `has to be left out: an answer with ${given} has no content`)
  const fields: Field[] = fieldsOf(headers, false)
  if (content !== '' && !fields.some(([name]) => name === 'content-type'))
    fields.push(['content-type', json ? JSON_TYPE : TEXT])
  const methods = method && textsOf(listOf(method), METHOD, 'a method, or a list of methods')
  return {
    path: pathOf(path),
    methods: methods && new Set(methods.map((name) => name.toUpperCase())),
    answer: { status: Number(given), fields, text: content },
  }
}

/** Returns whether a mock is for the method: one for GET is for HEAD, too (RFC 9110 §9.3.2). */
export function isFor({ methods }: Mock, method: string): boolean {
  return !methods || methods.has(method) || (method === 'HEAD' && methods.has('GET'))
}

function listOf(value: Value): Value {
  return { ...value, given: elementsOf(value).map(({ given }) => given) }
}

function bodyOf(value: Value | undefined): string | Uint8Array {
  const given = value?.given ?? ''
  if (typeof given !== 'string' && !isBytes(given)) wrong(value!, 'has to be a text or bytes')
  return given
}

function textOf(value: Value): string {
  try {
    return JSON.stringify(value.given) ?? wrong(value, 'has to be a value of JSON')
  } catch {
    return wrong(value, 'has to be a value of JSON')
  }
}
