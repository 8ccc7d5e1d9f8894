// Makes the header fields of a request to the target: the SDK sets the forwarding fields, ignoring the visitor's.

import { isClaimedField } from '@svc/protocol'
import { endToEnd, type Field, fieldsForTarget } from '@svc/sdk-core'
import type { TargetView } from './target-origin.ts'

const SET_HERE = ['host', 'expect']
/** Fields that are not allowed in trailers (RFC 9110 §6.5.1). */
const FRAMING = ['host', 'content-length', 'expect']

/**
 * `X-Forwarded-For` is omitted, because only the relay knows the visitor's address. Of the fields that are set
 * here, `fields` has only those that `allowFields` passes, which remain unchanged.
 */
export function forwardedFields(fields: Iterable<Field>, view: TargetView): Field[] {
  const kept = fieldsForTarget(endToEnd(fields, SET_HERE), view)
  const said = view.isForwarded ? saidOf(view.visited) : []
  return [
    ['host', view.host, 'Host'],
    ...kept,
    ...said.filter(([name]) => !kept.some(([allowed]) => allowed === name)),
  ]
}

/** Returns the request trailers for the target, without those that a header field could not have. */
export function forwardedTrailers(trailers: readonly Field[], view: TargetView): Field[] {
  return fieldsForTarget(endToEnd(trailers, FRAMING), view).filter(([name]) => !isClaimedField(name))
}

function saidOf({ host, port }: URL): Field[] {
  return [
    ['forwarded', `host="${host}";proto=https`, 'Forwarded'],
    ['x-forwarded-host', host, 'X-Forwarded-Host'],
    ['x-forwarded-port', port || '443', 'X-Forwarded-Port'],
    ['x-forwarded-proto', 'https', 'X-Forwarded-Proto'],
  ]
}
