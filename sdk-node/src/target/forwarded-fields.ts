// Makes the header fields of a request to the target: the SDK says where the request came from, whatever the visitor said.

import { endToEnd, type Field } from '@svc/sdk-core'

const SET_HERE = ['host', 'expect']

/** What is forwarded of a request. */
interface Forwarded {
  /** The URL that the visitor requested. */
  url: URL
  fields: Iterable<Field>
}

/**
 * The target keeps its own Host, so that a development server does not refuse it; which name the visitor used is in
 * `X-Forwarded-Host`. The visitor's address is known to the relay only, so RFC 7239 §6.3's `unknown` stands for it.
 * Of what is said here, `fields` have only what `allowFields` lets through, and that stays as it came.
 */
export function forwardedFields({ url: { host }, fields }: Forwarded, target: URL): Field[] {
  const kept = withJoinedCookies(endToEnd(fields, SET_HERE))
  const said: Field[] = [
    ['forwarded', `for=unknown;host="${host}";proto=https`],
    ['x-forwarded-for', 'unknown'],
    ['x-forwarded-host', host],
    ['x-forwarded-proto', 'https'],
  ]
  return [
    ['host', target.host],
    ...kept,
    ...said.filter(([name]) => !kept.some(([allowed]) => allowed === name)),
  ]
}

/** Joins the Cookie fields, of which an HTTP/1.1 request has one, and HTTP/2 many (RFC 9113 §8.2.3). */
function withJoinedCookies(fields: Field[]): Field[] {
  const cookies = fields.filter(([name]) => name === 'cookie')
  if (cookies.length < 2) return fields
  const joined = cookies.map(([, value]) => value).join('; ')
  return [...fields.filter(([name]) => name !== 'cookie'), ['cookie', joined]]
}
