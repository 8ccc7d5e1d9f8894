// The fields of a response to a request that does not reach a handler.

import type { Field } from './fields.ts'
import { httpDate } from './http-date.ts'
import type { HttpError } from './http-error.ts'

/** The WebSocket version that the SDK supports (RFC 6455 §4.2.2). */
const WEBSOCKET_VERSION: Field = ['sec-websocket-version', '13']

/** Returns the fields of an error response in any HTTP version. Its content is the error's message. */
export function errorResponseFields({ status, message }: HttpError): Field[] {
  const fields: Field[] = [
    ['date', httpDate()],
    ['content-type', 'text/plain'],
    ['content-length', String(message.length)],
  ]
  if (status === 426) fields.push(WEBSOCKET_VERSION)
  return fields
}
