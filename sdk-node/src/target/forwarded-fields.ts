// Makes the header fields of a request to the target: the SDK sets the forwarding fields, ignoring the visitor's.

import { isClaimedField } from '@svc/protocol'
import {
  type ClientCertificate,
  endToEnd,
  type Field,
  fieldsForTarget,
  type KnownVisitor,
  type RemoteAddress,
} from '@svc/sdk-core'
import type { TargetView } from './target-origin.ts'

const SET_HERE = ['host', 'expect']
/** Fields that are not allowed in trailers (RFC 9110 §6.5.1). */
const FRAMING = ['host', 'content-length', 'expect']

/**
 * Of the fields that are set here, `fields` has only those that `allowFields` passes, which remain unchanged.
 * @param visitor no field names what it has not
 */
export function forwardedFields(
  fields: Iterable<Field>,
  view: TargetView,
  { remote, clientCertificate }: KnownVisitor,
): Field[] {
  const kept = fieldsForTarget(endToEnd(fields, SET_HERE), view)
  const said = [...saidOf(view, remote), ...certificateFields(clientCertificate)]
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

function saidOf({ visited, isForwarded }: TargetView, remote: RemoteAddress | undefined): Field[] {
  const { host, port } = visited
  const visitor = remote?.address
  // RFC 7239 §6: an IPv6 address is in brackets, and so in quotes.
  const by = visitor?.includes(':') ? `for="[${visitor}]"` : `for=${visitor}`
  const forwarded = [...(visitor ? [by] : []), ...(isForwarded ? [`host="${host}"`, 'proto=https'] : [])]
  return [
    ...fieldsOf(forwarded.length > 0, ['forwarded', forwarded.join(';'), 'Forwarded']),
    ...fieldsOf(
      isForwarded,
      ['x-forwarded-host', host, 'X-Forwarded-Host'],
      ['x-forwarded-port', port || '443', 'X-Forwarded-Port'],
      ['x-forwarded-proto', 'https', 'X-Forwarded-Proto'],
    ),
    ...fieldsOf(
      visitor !== undefined,
      ['x-forwarded-for', `${visitor}`, 'X-Forwarded-For'],
      ['x-real-ip', `${visitor}`, 'X-Real-IP'],
    ),
  ]
}

/** Returns the visitor's certificate as RFC 9440 has it, a byte sequence (RFC 9651 §3.3.5), and by an older name. */
function certificateFields(certificate: ClientCertificate | undefined): Field[] {
  if (certificate === undefined) return []
  const value = `:${Buffer.from(certificate.der).toString('base64')}:`
  return [
    ['client-cert', value, 'Client-Cert'],
    ['x-client-cert', value, 'X-Client-Cert'],
  ]
}

function fieldsOf(isSaid: boolean, ...fields: Field[]): Field[] {
  return isSaid ? fields : []
}
