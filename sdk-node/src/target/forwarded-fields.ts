// Makes the header fields of a request to the target: the SDK says where the request came from, whatever the visitor said.

import { isClaimedField } from '@svc/protocol'
import { endToEnd, type Field, fieldsForTarget } from '@svc/sdk-core'
import type { TargetView } from './target-origin.ts'

const SET_HERE = ['host', 'expect']
/** These may be in no trailers (RFC 9110 §6.5.1). */
const FRAMING = ['host', 'content-length', 'expect']

/**
 * Without an address of the visitor, which the relay alone knows, no field claims one: `X-Forwarded-For` is left out. Of what is said
 * here, `fields` have only what `allowFields` lets through, and that stays as it came.
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

/** Returns the trailers of a request that the target gets: none that would say of the visitor what a header field may not say. */
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
