// Encodes the HTTP/1.1 response to a request that does not reach a handler.

import { encodeLatin1 } from '../bytes/latin1.ts'
import { errorResponseFields } from '../semantics/error-response.ts'
import type { HttpError } from '../semantics/http-error.ts'
import { headText } from './response-writer.ts'

/**
 * Returns a whole response, after which the connection closes.
 * @param method the request's method, if that much could be parsed
 */
export function encodeErrorResponse(error: HttpError, method: string | undefined): Uint8Array {
  const { status, message } = error
  let text = headText(status, message, errorResponseFields(error))
  // A 426 names the protocol to upgrade to (RFC 9110 §15.5.22).
  text += status === 426 ? 'connection: close, upgrade\r\nupgrade: websocket\r\n' : 'connection: close\r\n'
  return encodeLatin1(`${text}\r\n${method === 'HEAD' ? '' : message}`)
}
