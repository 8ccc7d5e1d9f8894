// Makes the header fields of a request to the target: the SDK says where the request came from, whatever the visitor said.

import { endToEnd, type Field, fieldsForTarget } from '@svc/sdk-core'
import type { TargetView } from './target-origin.ts'

const SET_HERE = ['host', 'expect']

/**
 * Without an address of the visitor, which the relay alone knows, no field claims one: `X-Forwarded-For` is left out. Of what is said
 * here, `fields` have only what `allowFields` lets through, and that stays as it came.
 */
export function forwardedFields(fields: Iterable<Field>, view: TargetView): Field[] {
  const kept = fieldsForTarget(withJoinedCookies(endToEnd(fields, SET_HERE)), view)
  const said = view.isForwarded ? saidOf(view.visited) : []
  return [
    ['host', view.host],
    ...kept,
    ...said.filter(([name]) => !kept.some(([allowed]) => allowed === name)),
  ]
}

function saidOf({ host, port }: URL): Field[] {
  return [
    ['forwarded', `host="${host}";proto=https`],
    ['x-forwarded-host', host],
    ['x-forwarded-port', port || '443'],
    ['x-forwarded-proto', 'https'],
  ]
}

/** Joins the Cookie fields, of which an HTTP/1.1 request has one, and HTTP/2 many (RFC 9113 §8.2.3). */
function withJoinedCookies(fields: Field[]): Field[] {
  const cookies = fields.filter(([name]) => name === 'cookie')
  if (cookies.length < 2) return fields
  const joined = cookies.map(([, value]) => value).join('; ')
  return [...fields.filter(([name]) => name !== 'cookie'), ['cookie', joined]]
}
