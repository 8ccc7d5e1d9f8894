// The answer to a request that no handler gets to see.

import { encodeLatin1 } from '../bytes/latin1.ts'
import { httpDate } from '../semantics/http-date.ts'
import type { HttpError } from '../semantics/http-error.ts'
import { reasonOf } from '../semantics/reason-phrases.ts'
import type { Field } from './head-parser.ts'

/** RFC 6455 §4.2.2: which version of it. */
const WEBSOCKET_VERSION: Field = ['sec-websocket-version', '13']

/** Of a refusal in any version of HTTP; its content is the error's message. */
export function refusalFields({ status, message }: HttpError): Field[] {
  const fields: Field[] = [
    ['date', httpDate()],
    ['content-type', 'text/plain'],
    ['content-length', String(message.length)],
  ]
  if (status === 426) fields.push(WEBSOCKET_VERSION)
  return fields
}

/** A whole response, after which the connection closes. @param method of the request, when that much was understood */
export function encodeRefusal(error: HttpError, method: string | undefined): Uint8Array {
  const { status, message } = error
  let text = `HTTP/1.1 ${status} ${reasonOf(status)}\r\n`
  for (const [name, value] of refusalFields(error)) text += `${name}: ${value}\r\n`
  // RFC 9110 §15.5.22: which protocol.
  text += status === 426 ? 'connection: close, upgrade\r\nupgrade: websocket\r\n' : 'connection: close\r\n'
  return encodeLatin1(`${text}\r\n${method === 'HEAD' ? '' : message}`)
}
